//! The compiled model of a maze.

use crate::maze::{Body, MazeConfig, ant_model, point_model};
use mujoco_rs::prelude::MjModel;
use std::sync::Arc;

/// A maze whose model is compiled; all its environments share it.
#[derive(Clone)]
pub struct MazeModel {
    /// The maze, its body and its rules.
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
        let model = MjModel::from_xml_string(&text).expect("models that we write are well formed");
        Self { config, model: Arc::new(model) }
    }
}
