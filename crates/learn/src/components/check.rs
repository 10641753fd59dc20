//! Numbers of configurations that must lie in a range.

use isochrone_nn::{error::ConfigError, loss::DualConfig};

/// Checks that a value lies strictly between 0 and 1.
///
/// # Errors
/// If it does not.
pub fn fraction(field: &str, value: f64) -> Result<(), ConfigError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(ConfigError::new(field, value, "is not between 0 and 1", "leave it out for the default"))
}

/// Checks that a value is a positive number.
///
/// # Errors
/// If it is not.
pub fn positive(field: &str, value: f64) -> Result<(), ConfigError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(ConfigError::new(field, value, "is not a positive number", "leave it out for the default"))
}

/// Checks that every number of a constraint is positive.
///
/// # Errors
/// If one is not.
pub fn dual(field: &str, config: &DualConfig) -> Result<(), ConfigError> {
    let inside = |error: ConfigError| error.inside(field);
    positive("margin", config.margin).map_err(inside)?;
    positive("learning_rate", config.learning_rate).map_err(inside)?;
    positive("initial", config.initial).map_err(inside)?;
    positive("floor", config.floor).map_err(inside)
}
