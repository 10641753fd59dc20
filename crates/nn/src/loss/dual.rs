//! Lagrange multipliers of constraints, updated by dual ascent.

use crate::{error::StateError, state_dict::StateDict};
use serde::{Deserialize, Serialize};

/// Settings of a constraint `violation <= margin` and the dual ascent of its multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DualConfig {
    /// The allowed violation.
    pub margin: f64,
    /// The learning rate of the ascent.
    pub learning_rate: f64,
    /// The initial multiplier.
    pub initial: f64,
    /// The minimum of the multiplier.
    pub floor: f64,
}

impl Default for DualConfig {
    fn default() -> Self {
        Self { margin: 0.05, learning_rate: 0.01, initial: 1.0, floor: 0.01 }
    }
}

/// A multiplier `lambda = softplus(raw) + floor`, updated by gradient ascent on
/// `lambda * (violation - margin)`.
///
/// It is a number on the host, so that it is saved exactly. The violation is read as a diagnostic
/// in any case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    config: DualConfig,
    raw: f64,
}

impl Dual {
    /// Creates a multiplier with its initial value, which is at least slightly above `floor`.
    pub fn new(config: DualConfig) -> Self {
        let softplus = (config.initial - config.floor).max(1e-6);
        Self { config, raw: softplus + (-(-softplus).exp_m1()).ln() }
    }

    /// Returns the multiplier, which is positive.
    pub fn lambda(&self) -> f64 {
        let softplus = self.raw.max(0.0) + (-self.raw.abs()).exp().ln_1p();
        softplus + self.config.floor
    }

    /// Saves or resumes the multiplier as `name`.
    ///
    /// # Errors
    /// If the state dict does not contain it.
    pub fn visit_state(&mut self, name: &str, state: &mut StateDict) -> Result<(), StateError> {
        state.number(name, &mut self.raw)
    }

    /// Takes one ascent step. A non-finite violation is ignored.
    pub fn update(&mut self, violation: f64) {
        if violation.is_finite() {
            let slope = 1.0 / (1.0 + (-self.raw).exp());
            self.raw += self.config.learning_rate * (violation - self.config.margin) * slope;
        }
    }
}
