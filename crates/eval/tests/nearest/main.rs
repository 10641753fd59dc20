//! Nearest states in time: exact search, and with the feature `nearest` the index and the planner.

mod exact;
mod slope;

#[cfg(feature = "nearest")]
mod index;
#[cfg(feature = "nearest")]
mod planner;
#[cfg(feature = "nearest")]
mod saved;
