//! Contrastive metric distillation, in one step.

mod config;
mod learner;

pub use config::Cmd1Config;
pub use learner::Cmd1;
