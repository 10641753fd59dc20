//! The graph of the refined distance in parts, for datasets that no machine can hold.
//!
//! ```text
//! Parquet shards -> Landmarks   chosen once, from a sample of the rows
//!                -> GraphPart   one job each: its rows, their landmarks, the fastest edge per pair
//!                -> merge       the fastest edge per pair of all parts: any order, any grouping
//!                -> RefinedDistance
//! ```
//!
//! The fastest segment between two landmarks is a minimum, with ties broken by row, so that the
//! graph is bit-identical for any number of parts. The typical segment is a median, which cannot be
//! merged: a graph in parts has only the reading [`Fastest`](super::Reading::Fastest).

mod error;
mod landmarks;
mod part;
mod part_file;
mod sample;

pub use error::GraphError;
pub use landmarks::Landmarks;
pub use part::GraphPart;
