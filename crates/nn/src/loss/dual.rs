//! Multipliers of constraints, by dual ascent.

use crate::{error::StateError, state_dict::StateDict};
use serde::{Deserialize, Serialize};

/// A constraint `violation <= margin` and the ascent of its multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DualConfig {
    /// How much violation is allowed.
    pub margin: f64,
    /// Step of the ascent.
    pub learning_rate: f64,
    /// The multiplier at the start.
    pub initial: f64,
    /// The multiplier is never smaller.
    pub floor: f64,
}

impl Default for DualConfig {
    fn default() -> Self {
        Self { margin: 0.05, learning_rate: 0.01, initial: 1.0, floor: 0.01 }
    }
}

/// `lambda = softplus(raw) + floor`, ascended along `violation - margin`.
///
/// One number on the host: it is saved exactly, and reading the violation is a diagnostic anyway.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    config: DualConfig,
    raw: f64,
}

impl Dual {
    /// The multiplier at its start. `initial` is raised to just above `floor` if need be.
    pub fn new(config: DualConfig) -> Self {
        let softplus = (config.initial - config.floor).max(1e-6);
        Self { config, raw: softplus + (-(-softplus).exp_m1()).ln() }
    }

    /// The multiplier, positive.
    pub fn lambda(&self) -> f64 {
        let softplus = self.raw.max(0.0) + (-self.raw.abs()).exp().ln_1p();
        softplus + self.config.floor
    }

    /// Saves or resumes the multiplier as `name`.
    ///
    /// # Errors
    /// If the state dict lacks it.
    pub fn visit_state(&mut self, name: &str, state: &mut StateDict) -> Result<(), StateError> {
        state.number(name, &mut self.raw)
    }

    /// One step of ascent; a violation that is not finite is ignored.
    pub fn update(&mut self, violation: f64) {
        if violation.is_finite() {
            let slope = 1.0 / (1.0 + (-self.raw).exp());
            self.raw += self.config.learning_rate * (violation - self.config.margin) * slope;
        }
    }
}
