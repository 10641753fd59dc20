//! Deep deterministic policy gradients with hindsight goals.

mod config;
mod learner;

pub use config::DdpgConfig;
pub use learner::Ddpg;
