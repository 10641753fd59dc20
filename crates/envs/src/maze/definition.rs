//! Maze environments as entries of the registry.

#[cfg(feature = "mujoco")]
use super::physics::MazeModel;
use super::{
    Benchmark, Body, Maze, MazeCell, MazeConfig, PointMazeMdp, ant_shape, library, policies::MazePolicy,
};
use crate::{BodyShape, CollectionPolicy, EnvDefinition, EnvError, EnvSpec, Rectangle};
use isochrone_core::EnvFactory;
use isochrone_data::{EpisodeSink, Spec};

/// Returns the mazes of both benchmarks.
pub(crate) fn definitions() -> Vec<Box<dyn EnvDefinition>> {
    MazeConfig::all().map(|config| Box::new(config) as Box<dyn EnvDefinition>).collect()
}

/// Returns the MuJoCo version, on which results depend; `None` if this program cannot call MuJoCo.
pub fn mujoco_version() -> Option<String> {
    #[cfg(feature = "mujoco")]
    return library::check("").is_ok().then(|| mujoco_rs::mujoco_version().to_owned());
    #[cfg(not(feature = "mujoco"))]
    None
}

impl EnvDefinition for MazeConfig {
    fn name(&self) -> String {
        MazeConfig::name(*self)
    }

    fn description(&self) -> String {
        let body = match self.body {
            Body::Point => "a ball",
            Body::Ant => "an ant",
        };
        let maze = match self.maze {
            Maze::Umaze => "a U-shaped corridor",
            Maze::Medium => "a maze of 8 by 8 cells",
            Maze::Large => "a maze of 9 by 12 cells",
            Maze::Giant => "a maze of 12 by 16 cells",
            Maze::Teleport => "a maze with stochastic teleporters",
        };
        let benchmark = match self.benchmark {
            Benchmark::Ogbench => "OGBench",
            Benchmark::D4rl => "D4RL",
        };
        format!("{body} in {maze} ({benchmark})")
    }

    fn spec(&self) -> EnvSpec {
        EnvSpec {
            observation_width: self.body.observation_width(),
            action_width: self.body.action_width(),
            max_episode_steps: self.max_episode_steps(),
            n_tasks: self.n_tasks(),
        }
    }

    fn dataset_spec(&self) -> Spec {
        self.columns()
    }

    fn collection_policies(&self) -> Vec<CollectionPolicy> {
        MazePolicy::of(self.benchmark).iter().map(|policy| policy.in_maze(*self)).collect()
    }

    fn check(&self) -> Result<(), EnvError> {
        library::check(&self.name())
    }

    #[cfg(feature = "mujoco")]
    fn make(&self) -> Result<EnvFactory, EnvError> {
        self.check()?;
        let model = MazeModel::new(*self);
        Ok(Box::new(move || Box::new(model.environment())))
    }

    #[cfg(not(feature = "mujoco"))]
    fn make(&self) -> Result<EnvFactory, EnvError> {
        Err(EnvError::NoPhysics { env: self.name() })
    }

    #[cfg_attr(not(feature = "mujoco"), expect(unused_variables))]
    fn collect(
        &self,
        policy: &CollectionPolicy,
        episodes: usize,
        seed: u64,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), EnvError> {
        self.check()?;
        #[cfg(feature = "mujoco")]
        {
            let mut kinds = MazePolicy::of(self.benchmark).iter().copied();
            let kind = kinds.find(|kind| kind.in_maze(*self) == *policy);
            let kind = kind.expect("the policy belongs to this environment");
            MazeModel::new(*self).collect(kind, episodes, seed, sink)?;
        }
        Ok(())
    }

    fn walls(&self) -> Vec<Rectangle> {
        self.maze.layout().walls().map(MazeCell::square).collect()
    }

    fn body_shape(&self) -> Option<BodyShape> {
        (self.body == Body::Ant).then_some(ant_shape)
    }

    fn optimal_success(&self, seed: u64) -> Option<Vec<f64>> {
        let mdp = (self.body == Body::Point).then(|| PointMazeMdp::new(self.maze));
        mdp.map(|mdp| mdp.optimal_success(PointMazeMdp::EPISODES, seed))
    }
}
