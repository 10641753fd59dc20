//! Mazes that one can walk in: MuJoCo moves the bodies.

mod body;
mod episode;
mod oracle;
mod recording;
mod walker;

pub use body::Moving;
pub use episode::MazeEnvironment;
pub use oracle::{Oracle, OraclePolicy};
pub use walker::AntWalker;

use crate::maze::{Body, MazeWorld, ant_model, point_model};
use mujoco_rs::prelude::MjModel;
use std::sync::Arc;

/// A maze whose model is compiled: everybody who walks in it shares it.
#[derive(Clone)]
pub struct Stage {
    world: MazeWorld,
    model: Arc<MjModel>,
}

impl Stage {
    /// Compiles the model of a world.
    pub fn new(world: MazeWorld) -> Self {
        let layout = world.maze.layout();
        let text = match world.body {
            Body::Point => point_model(layout),
            Body::Ant => ant_model(layout),
        };
        let model = MjModel::from_xml_string(&text).expect("models that we write are well formed");
        Self { world, model: Arc::new(model) }
    }

    /// Which world it is.
    pub fn world(&self) -> MazeWorld {
        self.world
    }

    /// The compiled model.
    pub fn model(&self) -> Arc<MjModel> {
        self.model.clone()
    }

    /// Somebody in the maze, at the first task of seed 0.
    pub fn environment(&self) -> MazeEnvironment {
        MazeEnvironment::new(self)
    }
}
