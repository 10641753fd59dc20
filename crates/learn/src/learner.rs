//! What every algorithm looks like from outside.

use crate::{batch::DeviceBatch, ledger::Ledger};
use burn::tensor::Tensor;
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{loss::Loss, module::Actor};

/// An algorithm in training: networks, what steps them, and what it knows.
pub trait Learner: Send {
    /// Which goals it wants for the rows of a batch: one law for each entry of [`DeviceBatch::goals`].
    fn goals(&self) -> Vec<GoalDistributionConfig>;

    /// One step: every network is updated once. What is returned was measured before it.
    fn update(&mut self, batch: &DeviceBatch) -> Metrics;

    /// What it has learned of distances; behaviour cloning has none.
    fn distance(&self) -> Option<Box<dyn TensorDistance>>;

    /// What it has learned to do; nothing from logs without actions.
    fn policy(&self) -> Option<Actor>;

    /// Puts everything that a continued run needs into the ledger, or takes it out: one function for both, so that nothing is
    /// forgotten on one side. The error is a sentence about the file.
    fn exchange(&mut self, ledger: &mut Ledger) -> Result<(), String>;
}

/// A distance between scaled states, in nats.
pub trait TensorDistance: Send + Sync {
    /// # Shapes
    /// `from, to: [n, observation width]` give `[n]`.
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1>;

    /// # Shapes
    /// `from: [n, observation width]`, `to: [m, observation width]` give `[n, m]`.
    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2>;
}

/// Numbers to watch, named `part/quantity`; those named `part/loss` are descended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics {
    entries: Vec<(String, f64)>,
}

impl Metrics {
    /// Adds the value of a loss and what it says about itself.
    pub fn add(&mut self, part: &str, loss: &Loss) {
        self.put(part, "loss", loss.item());
        loss.diagnostics.read().into_iter().for_each(|(name, value)| self.put(part, name, value));
    }

    /// Adds a number.
    pub fn put(&mut self, part: &str, name: &str, value: f64) {
        self.entries.push((format!("{part}/{name}"), value));
    }

    /// A number by its whole name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.entries.iter().find(|(entry, _)| entry == name).map(|(_, value)| *value)
    }

    /// All of them, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The first number that is not finite.
    pub fn not_finite(&self) -> Option<(&str, f64)> {
        self.iter().find(|(_, value)| !value.is_finite())
    }
}
