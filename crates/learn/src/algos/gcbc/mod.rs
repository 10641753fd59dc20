//! Goal-conditioned behaviour cloning.

mod config;
mod learner;

pub use config::GcbcConfig;
pub use learner::Gcbc;
