//! What the command can do.

pub mod data;
pub mod distance;
pub mod exact;
mod reading;
mod report;
pub mod runs;
pub mod train;
