//! Errors of fitting a refined distance.

use isochrone_data::NotFiniteError;
use thiserror::Error;

/// Why a refined distance cannot be fitted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RefinedError {
    /// A setting is out of range.
    #[error("`{field}` is {value}; hint: use at least {min}")]
    Setting {
        /// The name of the setting.
        field: &'static str,
        /// Its value.
        value: usize,
        /// The minimum value.
        min: usize,
    },
    /// The dataset has no transition.
    #[error("the dataset has no transitions; hint: use a dataset with at least one recorded step")]
    NoTransition,
    /// An observation is not finite.
    #[error(transparent)]
    NotFinite(#[from] NotFiniteError),
    /// No column is informative about elapsed time.
    #[error(
        "no observation column is informative about elapsed time; hint: the states of the dataset never change, or only by jumps"
    )]
    NoTimeInColumns,
    /// The graph is too large for a table of all pairs of landmarks.
    #[error("{landmarks} landmarks are too many for a table of all pairs; hint: use fewer landmarks")]
    NoTable {
        /// The number of landmarks.
        landmarks: usize,
    },
}
