//! Whole studies, from data to report, in one call that can be interrupted and goes on where it was.

mod jobs;
pub mod nav2d;

pub use jobs::side_by_side;
