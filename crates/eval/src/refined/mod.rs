//! The refined distance: steps between states, computed on a graph of recorded segments.
//!
//! A learned distance depends on the behavior policy and saturates, and a continuous network cannot
//! distinguish one step backward on a one-way ring from one step forward. The refined distance is
//! the length of a path of recorded segments, joined by short hops:
//!
//! ```text
//! dataset -> jumps      involuntary jumps, which are excluded
//!         -> HopMetric  the time that a short movement takes, by regression of lag
//!         -> landmarks  states that cover the data; every row belongs to the nearest
//!         -> edges      recorded segments between landmarks: hop + steps + hop
//!         -> Graph      shortest paths -> RefinedDistance
//! ```
//!
//! ```
//! use isochrone_core::TemporalDistance as _;
//! use isochrone_data::Dataset;
//! use isochrone_eval::refined::{RefinedConfig, RefinedDistance};
//!
//! let line: Vec<f32> = (0..200).map(|step| 0.1 * step as f32).collect();
//! let data = Dataset::from_arrays(1, 0, [(line, Vec::new())])?;
//! let distance = RefinedDistance::fit(&data, &RefinedConfig::default())?;
//! assert!((distance.steps(&[1.0], &[11.0])? - 100.0).abs() < 5.0);
//! assert!(distance.steps(&[11.0], &[1.0])?.is_infinite(), "no trajectory goes back");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every edge is a recorded segment, so walls, one-way doors and the direction of time come from
//! the data, and the unit is one step by construction. Only hops can be wrong, and the graph has to
//! confirm them.

mod ahead;
pub(crate) mod choice;
mod config;
pub(crate) mod cover;
mod coverage;
mod detours;
mod distance;
pub(crate) mod edges;
mod error;
mod gap;
mod goal_set;
mod graph;
mod hop;
pub(crate) mod jumps;
mod lag_sample;
mod leaves;
pub(crate) mod nearest;
mod nnls;
mod parts;
mod path;
mod paths;
mod place;
mod portable;
mod query;
mod route;
pub(crate) mod rows;
mod saved;
mod search;
mod slice;

pub use ahead::Ahead;
pub use config::RefinedConfig;
pub(crate) use coverage::covering_rows;
pub use distance::RefinedDistance;
pub use edges::Reading;
pub use error::RefinedError;
pub use gap::Gap;
pub use goal_set::GoalSet;
pub use hop::HopMetric;
pub use parts::{GraphError, GraphPart, Landmarks};
pub use path::{RecordedPath, Segment};
pub use portable::{Connection, PortableEdge, PortableGraph};
pub use slice::SliceDistance;
