//! What the command can do.

pub mod exact;
mod report;
