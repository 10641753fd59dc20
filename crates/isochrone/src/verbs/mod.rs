//! What the command can do.

pub mod data;
pub mod exact;
mod report;
