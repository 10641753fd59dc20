//! A benchmark of distances: readings beside exact travel times.
//!
//! ```text
//! World   data and pairs of states with the exact steps between them
//! Method  fits a distance to the data; readings of it
//! Row     one reading of one method in one world: what `results.json` is a list of
//! ```

mod baselines;
mod benchmark;
mod demonstrations;
mod exact_pairs;
mod leak;
mod method;
mod places;
mod report;
mod results;
mod row;
mod world;

pub use benchmark::DistanceBenchmark;
pub use leak::{EpisodeLeak, LeakCurve};
pub use method::DistanceMethod;
pub use row::DistanceRow;
pub use world::DistanceWorld;
