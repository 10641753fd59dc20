//! What the command can do.

pub mod data;
#[cfg(feature = "learn")]
pub mod distance;
pub mod exact;
mod reading;
mod report;
#[cfg(feature = "learn")]
pub mod runs;
#[cfg(feature = "learn")]
pub mod train;
