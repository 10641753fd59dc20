//! Quasimetric reinforcement learning.

mod config;
mod learner;

pub use config::QrlConfig;
pub use learner::Qrl;
