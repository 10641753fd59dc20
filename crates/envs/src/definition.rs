//! The interface of environments in the registry.

use crate::geometry::{Capsule, Point, Rectangle};
use isochrone_core::EnvFactory;
use isochrone_data::{DataError, EpisodeSink, Spec};
use thiserror::Error;

/// The first random stream of evaluation episodes. Datasets use smaller stream numbers, so
/// evaluation with the seed of a dataset does not repeat its noise.
pub(crate) const TASK_STREAMS: u64 = 1 << 40;

/// The sizes of an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvSpec {
    /// The number of values in an observation, and in a goal.
    pub observation_width: usize,
    /// The number of values in an action.
    pub action_width: usize,
    /// The number of steps after which an episode is truncated.
    pub max_episode_steps: usize,
    /// The number of tasks, which episodes cycle through; 1 if every episode samples its own task.
    pub n_tasks: usize,
}

/// A policy that collects datasets in an environment, and the size of its standard dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollectionPolicy {
    /// The suffix of the dataset name; empty for the only policy of an environment.
    pub name: &'static str,
    /// The number of episodes in the standard dataset.
    pub default_episodes: usize,
    /// The number of steps in every episode; `None` if lengths differ.
    pub episode_steps: Option<usize>,
    /// The standard deviation of the noise added to every action dimension.
    pub action_noise: f64,
}

/// Why an environment cannot be made, or a dataset cannot be collected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EnvError {
    /// The environment needs MuJoCo, but this build does not include it.
    #[error("{env} needs MuJoCo, but this build does not include it; hint: enable the feature `mujoco`")]
    NoPhysics {
        /// The name of the environment.
        env: String,
    },
    /// The environment needs MuJoCo, whose library cannot be opened.
    #[error("{env} needs MuJoCo: {problem}")]
    PhysicsLibrary {
        /// The name of the environment.
        env: String,
        /// Why the library cannot be opened, with a hint.
        problem: String,
    },
    /// The sink rejected an episode.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Returns the shape of a body in the pose that an observation describes.
pub type BodyShape = fn(&[f32]) -> Vec<Capsule>;

/// An environment of the registry.
///
/// A new environment is a module that implements this trait and a row in the table of
/// `registry.rs`.
pub trait EnvDefinition: Send + Sync {
    /// Returns the name, such as `pointmaze-medium`.
    fn name(&self) -> String;

    /// Returns a one-line description.
    fn description(&self) -> String;

    /// Returns the sizes of the environment.
    fn spec(&self) -> EnvSpec;

    /// Returns the columns of datasets collected in this environment.
    fn dataset_spec(&self) -> Spec;

    /// Returns the policies that collect datasets in this environment.
    fn collection_policies(&self) -> Vec<CollectionPolicy>;

    /// Checks whether this build can make the environment.
    ///
    /// # Errors
    /// If the environment needs MuJoCo and this build does not include it, or cannot open it.
    fn check(&self) -> Result<(), EnvError> {
        Ok(())
    }

    /// Prepares the environment once, for any number of instances.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    fn make(&self) -> Result<EnvFactory, EnvError>;

    /// Collects episodes `0..episodes` with one of the
    /// [`collection_policies`](Self::collection_policies). Each episode depends only on the seed
    /// and its number.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), and if `sink` rejects an episode.
    ///
    /// # Panics
    /// If the policy belongs to another environment.
    fn collect(
        &self,
        policy: &CollectionPolicy,
        episodes: usize,
        seed: u64,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), EnvError>;

    /// Returns the walls of the map, for plots. The first two values of an observation are the
    /// position on this map.
    fn walls(&self) -> Vec<Rectangle> {
        Vec::new()
    }

    /// Returns the places of a map without walls, for plots.
    fn places(&self) -> Vec<Point> {
        Vec::new()
    }

    /// Returns the shape of the body, for filmstrips.
    fn body_shape(&self) -> Option<BodyShape> {
        None
    }

    /// Returns the success rate of an optimal policy for every task, averaged over starts and goals
    /// of this seed; `None` if it is not known.
    fn optimal_success(&self, _seed: u64) -> Option<Vec<f64>> {
        None
    }
}
