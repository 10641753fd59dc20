//! The continuity hinge, an option of every algorithm that learns a distance.

use super::CriticInput;
use crate::{batch::DeviceBatch, metrics::Metrics};
use burn::tensor::{Int, Tensor, TensorData};
use isochrone_core::Discount;
use isochrone_nn::{error::ConfigError, loss, module::Metric};

/// A penalty on distances that change by more than one step within one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Continuity {
    /// The weight of the penalty; with 0 it is not computed.
    pub weight: f64,
    /// The length of one step in the unit of the distance.
    pub step: f64,
}

impl Continuity {
    /// Checks the setting `continuity_weight`.
    pub fn check(weight: f64) -> Result<(), ConfigError> {
        if weight.is_finite() && weight >= 0.0 {
            return Ok(());
        }
        let hint = "give 0 for no penalty, or a number like 1";
        Err(ConfigError::new("continuity_weight", weight, "is negative or not a number", hint))
    }

    /// Returns the penalty of a distance in nats.
    pub fn in_nats(weight: f64, discount: Discount) -> Self {
        Self { weight, step: discount.nats_per_step() }
    }

    /// Adds the penalty to the loss of a quasimetric between rows of a critic.
    pub fn add_to_metric(
        self,
        loss: Tensor<1>,
        batch: &DeviceBatch,
        metrics: &mut Metrics,
        metric: &Metric,
        input: CriticInput,
    ) -> Tensor<1> {
        let distance = |states, goals| metric.rowwise(input.states(states), input.states(goals));
        self.add_to(loss, batch, metrics, distance)
    }

    /// Adds the penalty to the loss of a critic. `distance` returns the distances `[n]` of states
    /// to goals.
    ///
    /// Every row has the goal of the next or the previous row: a state that does not depend on its
    /// own, and not on the division of a batch among processes.
    pub fn add_to(
        self,
        loss: Tensor<1>,
        batch: &DeviceBatch,
        metrics: &mut Metrics,
        distance: impl Fn(Tensor<2>, Tensor<2>) -> Tensor<1>,
    ) -> Tensor<1> {
        if self.weight == 0.0 {
            return loss;
        }
        let (goals, n) = (batch.goals[0].observations.clone(), batch.rows());
        let neighbors: Vec<i64> = (0..n).map(|row| (row ^ 1).min(n - 1) as i64).collect();
        let neighbors = Tensor::<1, Int>::from_data(TensorData::new(neighbors, [n]), &goals.device());
        let goals = goals.select(0, neighbors);
        let here = distance(batch.observations.clone(), goals.clone());
        let next = distance(batch.next_observations.clone(), goals);
        let penalty = loss::continuity(here, next, self.step);
        metrics.add("continuity", &penalty);
        loss + penalty.value * self.weight
    }
}
