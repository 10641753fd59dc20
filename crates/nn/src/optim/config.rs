//! Settings of an optimizer.

use crate::error::ConfigError;
use serde::{Deserialize, Serialize};

/// The decays and the epsilon of Adam.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adam {
    /// Decay of the first moment.
    pub beta_1: f32,
    /// Decay of the second moment.
    pub beta_2: f32,
    /// Added to the root of the second moment. Burn's default is 1e-5; the field's is 1e-8.
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
    /// The learning rate falls to zero at the end of the run, along half a cosine: the noise of the last batches averages out.
    Cosine,
}

/// Settings of an optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OptimizerConfig {
    /// Learning rate at the start.
    pub learning_rate: f64,
    /// Learning-rate schedule.
    pub schedule: Schedule,
    /// Gradients with a larger norm, over all parameters together, are scaled down to this norm; 0 turns clipping off.
    pub max_grad_norm: f64,
    /// Decays and epsilon.
    #[serde(flatten)]
    pub adam: Adam,
}

impl Default for OptimizerConfig {
    fn default() -> Self {
        Self { learning_rate: 3e-4, schedule: Schedule::Constant, max_grad_norm: 0.0, adam: Adam::default() }
    }
}

impl OptimizerConfig {
    /// Checks that every number is in its range.
    ///
    /// # Errors
    /// If one is not.
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
                "learning_rate and epsilon are positive, betas in 0..1; typical are 3e-4, 1e-8, 0.9 and 0.999",
            )),
            None => Ok(()),
        }
    }

    /// The learning rate of an update, counted from 0, of `total`.
    pub(super) fn learning_rate_at(&self, update: u64, total: u64) -> f64 {
        let progress = update.min(total) as f64 / total as f64;
        match self.schedule {
            Schedule::Constant => self.learning_rate,
            Schedule::Cosine => self.learning_rate * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos()),
        }
    }
}
