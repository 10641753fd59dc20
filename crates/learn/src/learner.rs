//! What every algorithm looks like to the trainer.

use crate::{batch::DeviceBatch, metrics::Metrics};
use burn::tensor::Tensor;
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{error::StateError, module::Actor, state_dict::StateDict};

/// An algorithm in training: its networks, their optimizers, and what it has learned.
pub trait Learner: Send {
    /// The goals that it wants for the rows of a batch: one to three distributions, one for each entry of
    /// [`DeviceBatch::goals`].
    fn goals(&self) -> Vec<GoalDistributionConfig>;

    /// Updates every network once. The metrics were measured before the update.
    fn update(&mut self, batch: &DeviceBatch) -> Metrics;

    /// The distance learned so far; behavior cloning has none.
    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        None
    }

    /// The policy learned so far; none from a dataset without actions.
    fn policy(&self) -> Option<Actor> {
        None
    }

    /// Shows everything that a resumed run needs to `state`, which saves it or, if it fits the learner, restores it.
    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError>;
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
