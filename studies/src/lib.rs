//! Whole studies, from data to report, in one call that can be interrupted and goes on where it was.

pub mod mazes;
pub mod nav2d;
mod training;

pub use training::Failure;
