//! Goal-conditioned implicit Q-learning.

mod config;
mod learner;

pub use config::GciqlConfig;
pub(crate) use config::hindsight_goals;
pub use learner::Gciql;
