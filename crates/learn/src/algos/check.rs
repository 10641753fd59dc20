//! Numbers of configurations that must lie in a range.

use crate::setting::Setting;
use isochrone_nn::{error::ConfigError, loss::DualConfig};

/// Refuses what is not strictly between 0 and 1.
pub fn fraction(field: &str, value: f64) -> Result<(), ConfigError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(ConfigError::new(field, value, "is not between 0 and 1", "leave it out for the default"))
}

/// Refuses what is not a positive number.
pub fn positive(field: &str, value: f64) -> Result<(), ConfigError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(ConfigError::new(field, value, "is not a positive number", "leave it out for the default"))
}

/// Refuses logs without actions.
pub fn needs_actions(algorithm: &str, setting: &Setting) -> Result<(), ConfigError> {
    if setting.has_actions() {
        return Ok(());
    }
    let hint = "cmd1, cmd2, crl and qrl learn distances from states alone; or name columns of actions";
    Err(ConfigError::new("learner.algorithm", algorithm, "learns from actions, and the data have none", hint))
}

/// Refuses constraints that cannot be kept.
pub fn dual(field: &str, config: &DualConfig) -> Result<(), ConfigError> {
    let inside = |error: ConfigError| error.inside(field);
    positive("margin", config.margin).map_err(inside)?;
    positive("learning_rate", config.learning_rate).map_err(inside)?;
    positive("initial", config.initial).map_err(inside)?;
    positive("floor", config.floor).map_err(inside)
}
