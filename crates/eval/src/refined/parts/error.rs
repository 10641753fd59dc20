//! Errors of building a graph in parts.

use crate::refined::RefinedError;
use isochrone_data::DataError;
use std::ops::Range;
use thiserror::Error;

/// Why a graph cannot be built in parts.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Data cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// No landmarks can be chosen.
    #[error(transparent)]
    Refined(#[from] RefinedError),
    /// The dataset has more rows than a graph can number.
    #[error("the dataset has {rows} rows, more than {}; hint: use a part of it", u32::MAX)]
    TooManyRows {
        /// The number of rows.
        rows: u64,
    },
    /// The dataset is not the one that the landmarks were chosen from.
    #[error(
        "the dataset has other shards than the one that the landmarks were chosen from; hint: choose landmarks again, and build all parts again"
    )]
    OtherData,
    /// Two parts have different landmarks.
    #[error("the parts have different landmarks; hint: build all parts with the same landmarks")]
    OtherLandmarks,
    /// Two parts have the same rows.
    #[error("rows {}..{} are in two parts; hint: merge every part once", rows.start, rows.end)]
    Overlap {
        /// The first rows that are in both.
        rows: Range<u64>,
    },
    /// Rows are in no part.
    #[error(
        "rows {}..{} of {n_rows} are in no part; hint: merge all parts", rows.start, rows.end
    )]
    Missing {
        /// The first rows that are missing.
        rows: Range<u64>,
        /// The number of rows of the dataset.
        n_rows: u64,
    },
}
