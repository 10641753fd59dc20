//! Evaluation of distances and policies, whatever computed them.
//!
//! - [`rollout`]: episodes of a policy in an environment, and its success rate;
//! - [`plan`]: paths over recorded states, found with a distance, and policies that follow them;
//! - [`calibration`]: distances in observed steps;
//! - [`refined`]: distances in true steps, along recorded time;
//! - [`audit`]: how far a distance can be trusted;
//! - [`round_trip`]: the larger of the two directed distances;
//! - [`stats`]: statistics over runs, with confidence intervals.
//!
//! Everything sees only the traits of `isochrone_core`, so exact solvers, networks and user-defined distances are evaluated by the same code.

pub mod audit;
pub mod calibration;
pub mod plan;
pub mod refined;
pub mod rollout;
pub mod round_trip;
pub mod stats;
