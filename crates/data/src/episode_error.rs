//! Errors in a single episode.

use thiserror::Error;

/// The reason why the columns of an episode do not match its spec.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EpisodeError {
    /// The length of a column is not a multiple of its width.
    #[error("column '{column}' has {found} numbers, which is not a multiple of its width {width}")]
    Width {
        /// The name of the column.
        column: String,
        /// The expected number of values per row.
        width: usize,
        /// The number of values found.
        found: usize,
    },
    /// The number of rows of a column does not match the observations.
    #[error("column '{column}' has {found} rows, but {expected} are expected")]
    Rows {
        /// The name of the column.
        column: String,
        /// The number of rows that the spec and the observations require.
        expected: usize,
        /// The number of rows found.
        found: usize,
    },
    /// The number of extra columns does not match the spec.
    #[error("{found} extra columns, but the spec has {expected}")]
    Extras {
        /// The number of extra columns of the spec.
        expected: usize,
        /// The number of extra columns found.
        found: usize,
    },
    /// The episode has fewer than two states.
    #[error("it has {states} observations and no transition")]
    NoTransition {
        /// The number of states of the episode.
        states: usize,
    },
    /// A number is NaN or infinite.
    #[error("row {row} of column '{column}': {value} is not finite")]
    NotFinite {
        /// The name of the column.
        column: String,
        /// The row, counted from 0.
        row: usize,
        /// The value.
        value: f64,
    },
}

impl EpisodeError {
    /// Returns what to do about the error.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Width { .. } => "give complete rows in row-major order",
            Self::Rows { .. } => "an episode of T steps has T + 1 observations, T actions and T rewards",
            Self::Extras { .. } => "give one column for each of `Spec::extras`, in order",
            Self::NoTransition { .. } => "remove the episode",
            Self::NotFinite { .. } => "remove the episode, or truncate it before this row",
        }
    }
}

/// An observation of a dataset that is not finite.
#[derive(Debug, Clone, PartialEq, Error)]
#[error(
    "episode {episode}, row {row} of column '{column}': {value} is not finite; hint: validate the dataset to list all such values"
)]
#[non_exhaustive]
pub struct NotFiniteError {
    /// The episode, counted from 0.
    pub episode: usize,
    /// The row in the episode, counted from 0.
    pub row: usize,
    /// The name of the column.
    pub column: String,
    /// The value.
    pub value: f32,
}
