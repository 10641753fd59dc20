//! Adam (Kingma and Ba, 2015): its settings, and a network together with its state.
//!
//! Stock Adam is eight tensor operations per parameter, each on one thread: 11 of 66 ms of a CMD-1 step at batch 256.
//! Here it is one pass over memory.

mod clip;
mod config;
mod train_state;

pub use config::{Adam, OptimizerConfig, Schedule};
pub use train_state::TrainState;
