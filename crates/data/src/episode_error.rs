//! What can be wrong with one episode.

use thiserror::Error;

/// Why the columns of an episode do not fit its spec.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EpisodeError {
    /// A column is not made of whole rows.
    #[error("{column} have {found} numbers, which is not a multiple of their width {width}")]
    Width {
        /// The column.
        column: String,
        /// Numbers per row.
        width: usize,
        /// Numbers that there are.
        found: usize,
    },
    /// A column has more or fewer rows than the observations ask for.
    #[error("{column} have {found} rows, where {expected} are expected")]
    Rows {
        /// The column.
        column: String,
        /// Rows that the spec and the observations ask for.
        expected: usize,
        /// Rows that there are.
        found: usize,
    },
    /// The number of extra columns is not that of the spec.
    #[error("{found} extra columns, where the spec has {expected}")]
    Extras {
        /// Extra columns of the spec.
        expected: usize,
        /// Extra columns that there are.
        found: usize,
    },
    /// There is no action between two states.
    #[error("it has {states} observations and no transition")]
    NoTransition {
        /// How many states it has.
        states: usize,
    },
    /// A number is NaN or infinite.
    #[error("row {row} of {column}: {value} is not finite")]
    NotFinite {
        /// The column.
        column: String,
        /// The row, counted from 0.
        row: usize,
        /// The number.
        value: f64,
    },
}

impl EpisodeError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Width { .. } => "give whole rows, one after another",
            Self::Rows { .. } => "T + 1 observations have T actions and T rewards between them",
            Self::Extras { .. } => "give one for each of `Spec::extras`, in order",
            Self::NoTransition { .. } => "leave it out",
            Self::NotFinite { .. } => "leave the episode out, or cut it before this row",
        }
    }
}
