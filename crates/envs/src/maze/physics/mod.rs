//! Maze environments simulated by MuJoCo.

mod collect;
mod environment;
mod model;
mod oracle;
mod simulation;
mod walker;

pub use environment::MazeEnvironment;
pub use model::MazeModel;
pub use oracle::Oracle;
pub use simulation::Simulation;
pub use walker::AntWalker;
