//! Errors of stochastic planning.

use crate::refined::RefinedError;
use isochrone_core::ShapeError;
use thiserror::Error;

/// Why a model cannot be fitted, or a plan cannot be made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ChanceError {
    /// A setting is out of range.
    #[error("`{field}` is {value}; hint: use a positive number")]
    Setting {
        /// The name of the setting.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// The metric cannot be fitted.
    #[error(transparent)]
    Metric(#[from] RefinedError),
    /// A state has the wrong width.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}
