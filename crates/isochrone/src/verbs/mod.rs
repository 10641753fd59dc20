//! What the command can do.

pub mod data;
#[cfg(feature = "learn")]
pub mod distance;
pub mod envs;
#[cfg(feature = "learn")]
pub mod eval;
pub mod exact;
#[cfg(feature = "learn")]
pub mod plan;
#[cfg(feature = "learn")]
mod planning;
#[cfg(feature = "learn")]
pub mod plot;
mod reading;
mod report;
#[cfg(feature = "learn")]
pub mod reproduce;
#[cfg(feature = "learn")]
pub mod runs;
#[cfg(feature = "learn")]
mod situations;
#[cfg(feature = "learn")]
pub mod train;
