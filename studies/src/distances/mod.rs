//! A benchmark of distances: readings compared with exact travel times.
//!
//! ```text
//! Environment  data and pairs of states with the exact steps between them
//! Method       fits a distance to the data; readings of it
//! Row          one reading of one method in one environment: an entry of `results.json`
//! ```

mod baselines;
mod benchmark;
mod demonstrations;
mod environment;
mod exact_pairs;
mod leak;
mod method;
mod plans;
mod report;
mod results;
mod row;

pub use benchmark::DistanceBenchmark;
pub use environment::DistanceEnvironment;
pub use leak::{EpisodeLeak, LeakCurve};
pub use method::DistanceMethod;
pub use row::DistanceRow;
