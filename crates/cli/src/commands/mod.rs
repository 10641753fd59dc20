//! The subcommands.

#[cfg(feature = "learn")]
pub mod audit;
mod choice;
pub mod completions;
pub mod data;
pub mod demos;
#[cfg(feature = "learn")]
mod device_args;
#[cfg(feature = "learn")]
pub mod distance;
#[cfg(feature = "learn")]
pub mod distill;
pub mod envs;
#[cfg(feature = "learn")]
pub mod eval;
pub mod exact;
#[cfg(feature = "learn")]
pub mod explore;
#[cfg(feature = "learn")]
pub mod export;
#[cfg(feature = "learn")]
mod forecast;
#[cfg(feature = "learn")]
mod goal_steps;
pub mod graph;
pub mod hints;
pub mod man;
#[cfg(feature = "learn")]
pub mod nearest;
pub mod output;
#[cfg(feature = "learn")]
pub mod plan;
#[cfg(feature = "learn")]
mod planner_args;
#[cfg(feature = "learn")]
pub mod plot;
#[cfg(feature = "learn")]
mod query;
mod read_args;
mod remote;
#[cfg(feature = "learn")]
pub mod reproduce;
#[cfg(feature = "learn")]
pub mod runs;
#[cfg(feature = "learn")]
pub mod score;
#[cfg(feature = "learn")]
mod states;
#[cfg(feature = "learn")]
mod step_map;
#[cfg(feature = "learn")]
pub mod train;
