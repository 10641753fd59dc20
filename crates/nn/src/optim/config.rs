//! Optimizer settings.

use crate::error::ConfigError;
use serde::{Deserialize, Serialize};

/// The decay rates and the epsilon of Adam.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adam {
    /// Decay rate of the first moment.
    pub beta_1: f32,
    /// Decay rate of the second moment.
    pub beta_2: f32,
    /// Added to the root of the second moment. The default is 1e-8, as in Optax; Burn's is 1e-5.
    pub epsilon: f32,
}

impl Default for Adam {
    fn default() -> Self {
        Self { beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8 }
    }
}

/// The learning-rate schedule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The learning rate does not change.
    #[default]
    Constant,
    /// The learning rate decays to zero at the end of the run along half a cosine, which averages
    /// out the gradient noise of the last batches.
    Cosine,
}

/// Optimizer settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OptimizerConfig {
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Learning-rate schedule.
    pub schedule: Schedule,
    /// Maximum global norm of the gradients, to which larger gradients are scaled; 0 disables
    /// clipping.
    pub max_grad_norm: f64,
    /// Decay rates and epsilon of Adam.
    #[serde(flatten)]
    pub adam: Adam,
}

impl Default for OptimizerConfig {
    fn default() -> Self {
        Self { learning_rate: 3e-4, schedule: Schedule::Constant, max_grad_norm: 0.0, adam: Adam::default() }
    }
}

impl OptimizerConfig {
    /// Checks that every setting is in its range.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { learning_rate, max_grad_norm, adam, .. } = *self;
        let unit = 0.0..1.0;
        let wrong = [
            ("learning_rate", learning_rate, !(learning_rate.is_finite() && learning_rate > 0.0)),
            ("max_grad_norm", max_grad_norm, !(max_grad_norm.is_finite() && max_grad_norm >= 0.0)),
            ("beta_1", f64::from(adam.beta_1), !unit.contains(&f64::from(adam.beta_1))),
            ("beta_2", f64::from(adam.beta_2), !unit.contains(&f64::from(adam.beta_2))),
            ("epsilon", f64::from(adam.epsilon), !(adam.epsilon.is_finite() && adam.epsilon > 0.0)),
        ];
        match wrong.into_iter().find(|(.., is_wrong)| *is_wrong) {
            Some((field, value, _)) => Err(ConfigError::new(
                field,
                value,
                "is out of range",
                "learning_rate and epsilon must be positive, and betas in 0..1; typical values are 3e-4, 1e-8, 0.9 and 0.999",
            )),
            None => Ok(()),
        }
    }

    /// Returns the learning rate of update number `update`, counted from 0, out of `total`.
    pub(super) fn learning_rate_at(&self, update: u64, total: u64) -> f64 {
        let progress = update.min(total) as f64 / total as f64;
        match self.schedule {
            Schedule::Constant => self.learning_rate,
            Schedule::Cosine => self.learning_rate * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos()),
        }
    }
}
