//! Mazes of square cells: the maps, tasks and teleporters of OGBench and D4RL, MuJoCo models of the
//! bodies, and optimal success rates. Only `physics` needs MuJoCo.

mod ant;
mod config;
mod definition;
mod exact;
mod layout;
mod library;
mod maps;
mod mjcf;
#[cfg(feature = "mujoco")]
pub mod physics;
mod policies;

pub use ant::ant_shape;
pub use config::{Benchmark, Body, MazeConfig, PUSH, STEPS_PER_SECOND};
pub use definition::mujoco_version;
pub use exact::PointMazeMdp;
pub use layout::{CELL, Layout, MazeCell};
pub use library::{MujocoError, MujocoLoader, set_mujoco_loader};
pub use maps::{Maze, Task};
pub use mjcf::{ANKLE_SIGNS, MOTORS, ant_model, point_model};

pub(crate) use definition::definitions;
