//! What an environment of the registry provides.

use crate::geometry::{Capsule, Rectangle};
use isochrone_core::EnvFactory;
use isochrone_data::{DataError, EpisodeSink, Spec};
use thiserror::Error;

/// Episodes to evaluate draw from streams beyond this: evaluation with the seed of a dataset does
/// not repeat its noise.
pub(crate) const TASK_STREAMS: u64 = 1 << 40;

/// The sizes of an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvSpec {
    /// Numbers of an observation, and of a goal.
    pub observation_width: usize,
    /// Numbers of an action.
    pub action_width: usize,
    /// Actions after which an episode is truncated.
    pub max_episode_steps: usize,
    /// Tasks that episodes take turns at; 1 where every episode draws its own.
    pub n_tasks: usize,
}

/// A policy that collects datasets in an environment, and the sizes of its standard dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollectionPolicy {
    /// Its name, which ends that of the dataset; empty for the only policy of an environment.
    pub name: &'static str,
    /// Episodes of the standard dataset.
    pub default_episodes: usize,
    /// Actions of every episode; `None` where lengths differ.
    pub episode_steps: Option<usize>,
    /// The standard deviation of the noise that is added to every number of an action.
    pub action_noise: f64,
}

/// An environment that cannot be made, or a dataset that cannot be collected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EnvError {
    /// The environment needs a physics library that this build does not have.
    #[error("{env} needs MuJoCo, which this build does not have; hint: enable the feature `mujoco`")]
    NoPhysics {
        /// Name of the environment.
        env: String,
    },
    /// The sink refused an episode.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// The shape of a body in the posture that an observation describes.
pub type BodyShape = fn(&[f32]) -> Vec<Capsule>;

/// An environment of the registry.
///
/// A new environment is a module that implements this trait and a row in the table of `registry.rs`.
pub trait EnvDefinition: Send + Sync {
    /// Its name, such as `pointmaze-medium`.
    fn name(&self) -> String;

    /// A description of one line.
    fn description(&self) -> String;

    /// Its sizes.
    fn spec(&self) -> EnvSpec;

    /// The columns of datasets that are collected in it.
    fn dataset_spec(&self) -> Spec;

    /// The policies that collect datasets in it.
    fn collection_policies(&self) -> Vec<CollectionPolicy>;

    /// Whether this build can make it.
    ///
    /// # Errors
    /// If it needs a physics library that this build does not have.
    fn check(&self) -> Result<(), EnvError> {
        Ok(())
    }

    /// Prepares the environment once, for any number of instances.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    fn make(&self) -> Result<EnvFactory, EnvError>;

    /// Collects episodes `0..episodes` with one of the [`collection_policies`](Self::collection_policies);
    /// each follows from the seed and its number.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), and what `sink` refuses.
    ///
    /// # Panics
    /// If the policy is of another environment.
    fn collect(
        &self,
        policy: &CollectionPolicy,
        episodes: usize,
        seed: u64,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), EnvError>;

    /// The walls of its map, for plots; the first two numbers of an observation are a point of it.
    fn walls(&self) -> Vec<Rectangle> {
        Vec::new()
    }

    /// The shape of its body, for filmstrips.
    fn body_shape(&self) -> Option<BodyShape> {
        None
    }

    /// The success rate of an optimal policy for every task, averaged over starts and goals of this
    /// seed; `None` where it is not known.
    fn optimal_success(&self, _seed: u64) -> Option<Vec<f64>> {
        None
    }
}
