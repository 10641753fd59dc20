//! The compiled MuJoCo model of a maze.

use crate::maze::{Body, MazeConfig, ant_model, point_model};
use mujoco_rs::prelude::MjModel;
use std::sync::Arc;

/// A maze with its compiled model, which all its environments share.
#[derive(Clone)]
pub struct MazeModel {
    /// The maze, the body and the benchmark.
    pub config: MazeConfig,
    /// The compiled model.
    pub model: Arc<MjModel>,
}

impl MazeModel {
    /// Compiles the model of a maze.
    pub fn new(config: MazeConfig) -> Self {
        let layout = config.maze.layout();
        let text = match config.body {
            Body::Point => point_model(layout),
            Body::Ant => ant_model(layout),
        };
        let model = MjModel::from_xml_string(&text).expect("generated models are valid");
        Self { config, model: Arc::new(model) }
    }
}
