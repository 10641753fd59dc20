//! Losses: functions that return a value to descend and named numbers to watch.

mod contrastive;
mod distill;
mod dual;
mod policy;
mod regression;
mod temporal;

pub use contrastive::{
    ContrastiveOptions, Direction, InfoNce, binary_nce, binary_nce_of_logits, infonce, infonce_of_logits,
};
pub use distill::{Hinge, contrastive_targets, distil};
pub use dual::{Dual, DualConfig};
pub use policy::{awr, ddpg_bc};
pub use regression::{expectile, linex};
pub use temporal::{local_constraint, push_apart};

use burn::tensor::Tensor;

/// A loss and what to watch.
#[derive(Clone, Debug)]
pub struct Loss {
    /// To descend, `[1]`.
    pub value: Tensor<1>,
    /// To look at; not differentiable.
    pub diagnostics: Diagnostics,
}

/// Named scalars that stay on their device until they are read.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    entries: Vec<(&'static str, Tensor<1>)>,
}

impl Diagnostics {
    /// Adds a scalar `[1]`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Tensor<1>) -> Self {
        self.entries.push((name, value.detach()));
        self
    }

    /// The numbers, in one transfer.
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
    /// A value without anything to watch.
    pub fn new(value: Tensor<1>) -> Self {
        Self { value, diagnostics: Diagnostics::default() }
    }

    fn with(mut self, name: &'static str, value: Tensor<1>) -> Self {
        self.diagnostics = self.diagnostics.with(name, value);
        self
    }

    /// The losses of independent networks, added; what to watch is that of the last. Nothing of nothing.
    pub fn sum(losses: impl IntoIterator<Item = Self>) -> Option<Self> {
        losses
            .into_iter()
            .reduce(|sum, loss| Self { value: sum.value + loss.value, diagnostics: loss.diagnostics })
    }

    /// The value as a number; waits for the device.
    ///
    /// # Panics
    /// If the device fails.
    pub fn item(&self) -> f64 {
        f64::from(self.value.clone().into_scalar::<f32>())
    }
}
