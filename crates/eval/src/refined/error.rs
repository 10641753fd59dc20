//! What can be wrong with data that a refined distance is fitted to.

use thiserror::Error;

/// Why a refined distance cannot be fitted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RefinedError {
    /// A setting is out of range.
    #[error("`{field}` is {value}; hint: it is at least {least}")]
    Setting {
        /// Name of the setting.
        field: &'static str,
        /// Its value.
        value: usize,
        /// The smallest value that is possible.
        least: usize,
    },
    /// The dataset has no transition.
    #[error("the dataset has no transition; hint: a refined distance is made of recorded steps")]
    NoTransition,
    /// No column changes as time passes.
    #[error(
        "no column of the observations tells how much time has passed; hint: the states of the dataset never change, or only by jumps"
    )]
    NoTimeInColumns,
}
