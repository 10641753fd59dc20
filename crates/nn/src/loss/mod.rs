//! Losses. Each returns a value to minimize and named diagnostics.

mod backup;
mod contrastive;
mod distill;
mod dual;
mod policy;
mod regression;
mod steps;
mod temporal;

pub use backup::{BackupConfig, linex_backup};
pub use contrastive::{ContrastiveOptions, Direction, InfoNce, binary_nce, infonce, infonce_of_logits};
pub use distill::{contrastive_targets, distill};
pub use dual::{Dual, DualConfig};
pub use policy::{awr, ddpg_bc};
pub use regression::expectile;
pub use steps::step_regression;
pub use temporal::{continuity, local_constraint, qrl_spread};

use burn::tensor::Tensor;

/// A loss and its diagnostics.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The value to minimize, `[1]`.
    pub value: Tensor<1>,
    /// Diagnostics; not differentiable.
    pub diagnostics: Diagnostics,
}

/// Named scalars that stay on their device until they are read.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    entries: Vec<(&'static str, Tensor<1>)>,
}

impl Diagnostics {
    /// Reads all diagnostics in one transfer.
    ///
    /// # Panics
    /// If the device fails.
    pub fn read(&self) -> Vec<(&'static str, f64)> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let values = Tensor::cat(self.entries.iter().map(|(_, value)| value.clone()).collect(), 0);
        let values = values.into_data().convert::<f64>().try_into_vec::<f64>().expect("floats");
        self.entries.iter().map(|(name, _)| *name).zip(values).collect()
    }
}

impl Loss {
    /// Creates a loss without diagnostics.
    pub fn new(value: Tensor<1>) -> Self {
        Self { value, diagnostics: Diagnostics::default() }
    }

    /// Adds a diagnostic scalar `[1]`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Tensor<1>) -> Self {
        self.diagnostics.entries.push((name, value.detach()));
        self
    }

    /// Returns the sum of the losses of independent networks, with the diagnostics of the last;
    /// `None` if there are none.
    pub fn sum(losses: impl IntoIterator<Item = Self>) -> Option<Self> {
        losses
            .into_iter()
            .reduce(|sum, loss| Self { value: sum.value + loss.value, diagnostics: loss.diagnostics })
    }

    /// Returns the value as a number, after waiting for the device.
    ///
    /// # Panics
    /// If the device fails.
    pub fn item(&self) -> f64 {
        f64::from(self.value.clone().into_scalar::<f32>())
    }
}
