//! Contrastive reinforcement learning.

mod config;
mod learner;

pub use config::{CrlConfig, CrlLoss};
pub use learner::Crl;
