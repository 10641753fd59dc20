//! Range checks of settings.

use isochrone_nn::{
    error::ConfigError,
    loss::{BackupConfig, DualConfig},
};

/// Checks that a value lies strictly between 0 and 1.
pub fn fraction(field: &str, value: f64) -> Result<(), ConfigError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(ConfigError::new(field, value, "is not between 0 and 1", "omit it for the default"))
}

/// Checks that a value is a positive number.
pub fn positive(field: &str, value: f64) -> Result<(), ConfigError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(ConfigError::new(field, value, "is not a positive number", "omit it for the default"))
}

/// Checks that the settings of a backup are in range.
pub fn backup(field: &str, config: &BackupConfig) -> Result<(), ConfigError> {
    if !(0.0..=1.0).contains(&config.diagonal_weight) {
        let (value, hint) = (config.diagonal_weight, "omit it for the default");
        return Err(ConfigError::new("diagonal_weight", value, "is not between 0 and 1", hint).inside(field));
    }
    positive("threshold", config.threshold).map_err(|error| error.inside(field))
}

/// Checks that all settings of a constraint are positive.
pub fn dual(field: &str, config: &DualConfig) -> Result<(), ConfigError> {
    let DualConfig { margin, learning_rate, initial, floor } = *config;
    let all = [("margin", margin), ("learning_rate", learning_rate), ("initial", initial), ("floor", floor)];
    all.into_iter().try_for_each(|(name, value)| positive(name, value)).map_err(|error| error.inside(field))
}
