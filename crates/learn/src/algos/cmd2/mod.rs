//! Contrastive metric distillation, in two steps.

mod config;
mod learner;

pub use config::Cmd2Config;
pub use learner::Cmd2;
