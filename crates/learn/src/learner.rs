//! The interface between the trainer and an algorithm.

use crate::{
    batch::DeviceBatch,
    export::{Graph, Value},
    metrics::Metrics,
};
use burn::tensor::Tensor;
use isochrone_core::LatentMetric;
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{error::StateError, module::Actor, state_dict::StateDict};
use std::sync::Arc;

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

    /// Returns the latent states that are compared; `None` if the distance is not a quasimetric
    /// between latent states.
    ///
    /// # Shapes
    /// `[n, observation width]` gives `[n, latent width]`.
    fn embed(&self, _rows: Tensor<2>) -> Option<Tensor<2>> {
        None
    }

    /// Returns the distance between the latent states of [`embed`](Self::embed), in nats; `None` if
    /// there are none.
    fn latent_metric(&self) -> Option<Arc<dyn LatentMetric>> {
        None
    }

    /// Adds the computation of [`paired`](Self::paired) to a graph and returns its result; `None`
    /// if the distance cannot be exported.
    ///
    /// # Shapes
    /// `from, to: [n, observation width]` give `[n]`.
    fn onnx(&self, _graph: &mut Graph, _from: &Value, _to: &Value) -> Option<Value> {
        None
    }

    /// Adds the computation of [`embed`](Self::embed) to a graph and returns its result and the
    /// latent width; `None` if there is no embedding or it cannot be exported.
    fn onnx_embedding(&self, _graph: &mut Graph, _rows: &Value) -> Option<(Value, usize)> {
        None
    }
}
