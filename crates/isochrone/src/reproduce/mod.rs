//! Whole studies, from data to report, in one call that can be interrupted and goes on where it was.

pub mod nav2d;
