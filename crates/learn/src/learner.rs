//! The interface between the trainer and an algorithm.

use crate::{batch::DeviceBatch, metrics::Metrics};
use burn::tensor::Tensor;
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{error::StateError, module::Actor, state_dict::StateDict};

/// An algorithm in training: its networks, their optimizers and the resulting distance and policy.
pub trait Learner: Send {
    /// The goal distributions of a batch, one to three: one for each entry of
    /// [`DeviceBatch::goals`].
    fn goals(&self) -> Vec<GoalDistributionConfig>;

    /// Updates every network once and returns metrics that were measured before the update.
    fn update(&mut self, batch: &DeviceBatch) -> Metrics;

    /// The current distance; `None` for behavior cloning.
    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        None
    }

    /// The current policy; `None` if the dataset has no actions.
    fn policy(&self) -> Option<Actor> {
        None
    }

    /// Passes everything that a resumed run needs to `state`, which saves or restores it.
    ///
    /// # Errors
    /// If the state to be restored does not fit the learner.
    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError>;
}

/// A distance between scaled states, in nats.
pub trait TensorDistance: Send + Sync {
    /// Returns the distances from row `i` of `from` to row `i` of `to`.
    ///
    /// # Shapes
    /// `from, to: [n, observation width]` give `[n]`.
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1>;

    /// Returns the distances from every row of `from` to every row of `to`.
    ///
    /// # Shapes
    /// `from: [n, observation width]`, `to: [m, observation width]` give `[n, m]`.
    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2>;
}
