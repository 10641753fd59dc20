//! Evaluation of temporal distances and policies.
//!
//! - [`rollout`]: episodes of a policy in an environment, and its success rate;
//! - [`nearest`]: recorded states that are nearest in time to a state;
//! - [`plan`]: paths over dataset states, found with a distance, and policies that follow them;
//! - [`chance`]: planning where some moves have random outcomes, such as teleporters;
//! - [`calibration`]: calibration of distances to observed steps;
//! - [`refined`]: distances in steps, computed from recorded segments;
//! - [`audit`]: checks of how far a distance can be trusted;
//! - [`round_trip`]: the larger of the two directed distances;
//! - [`score`]: distances for every row of a Parquet dataset of any size, in parts;
//! - [`stats`]: statistics over runs, with confidence intervals;
//! - [`straight`]: a controller that needs no training, for environments whose actions move the
//!   position.
//!
//! All code uses only the traits of `isochrone_core`, so exact solvers, networks and user-defined
//! distances are evaluated by the same code.

pub mod audit;
pub mod calibration;
pub mod chance;
pub mod demos;
pub mod nearest;
pub mod plan;
mod quantile;
pub mod refined;
pub mod rollout;
pub mod round_trip;
pub mod score;
pub mod stats;
pub mod straight;
