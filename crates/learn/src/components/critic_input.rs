//! Inputs of a critic: a state, with or without an action.

use crate::{
    batch::DeviceBatch,
    context::LearnerContext,
    export::{Graph, Value},
};
use burn::tensor::{Tensor, TensorData};
use isochrone_core::rng;

/// Random streams with this bit belong to updates; sampling and initialization use others.
const UPDATES: u64 = 1 << 62;

/// What the random numbers of [`row_draws`] decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChoice {
    /// Which rows are shown without their action.
    Action,
    /// Which rows have the next state as their waypoint.
    Waypoint,
}

/// Returns one random number in `[0, 1)` for each row of a batch: a pure function of seed, step and
/// row.
pub fn row_draws(choice: RowChoice, batch: &DeviceBatch, context: &LearnerContext) -> Vec<f64> {
    // Steps are below 2^40.
    let mut random = rng::stream(context.seed, UPDATES | (choice as u64) << 60 | batch.step);
    rng::skip(&mut random, context.processes.first_row(batch.rows()) as u64);
    (0..batch.rows()).map(|_| rng::unit_f64(&mut random)).collect()
}

/// The layout of a critic's input rows: `[s, a, 1]` for a state with an action, and `[s, 0, 0]` for
/// a state without one.
///
/// One network then represents both `d((s, a), g)`, from which the policy is extracted, and `d(s,
/// g)`, which users query: for a state without an action, the contrastive optimum is the average
/// over the actions of the behavior policy. Goals have no action: the distance to a goal does not
/// depend on the action taken there, so that attaching an action of the data, as published code
/// does, gains nothing. If the dataset has no actions, a row is `[s]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CriticInput {
    observation_width: usize,
    action_width: usize,
}

impl CriticInput {
    /// Returns the layout for data of these widths.
    pub fn new(context: &LearnerContext) -> Self {
        Self { observation_width: context.observation_width, action_width: context.action_width }
    }

    /// The width of a row.
    pub fn width(&self) -> usize {
        match self.action_width {
            0 => self.observation_width,
            width => self.observation_width + width + 1,
        }
    }

    /// Returns rows of states without actions.
    ///
    /// # Shapes
    /// `[n, observation width]` gives `[n, width]`.
    pub fn states(&self, observations: Tensor<2>) -> Tensor<2> {
        let [n, _] = observations.dims();
        if self.action_width == 0 {
            return observations;
        }
        let zeros = Tensor::zeros([n, self.action_width + 1], &observations.device());
        Tensor::cat(vec![observations, zeros], 1)
    }

    /// Adds [`states`](Self::states) to a graph.
    pub fn onnx_states(&self, graph: &mut Graph, observations: &Value) -> Value {
        match self.action_width {
            0 => observations.clone(),
            width => graph.pad_columns(observations, width + 1),
        }
    }

    /// Returns rows of states with actions.
    ///
    /// # Shapes
    /// `[n, observation width]` and `[n, action width]` give `[n, width]`.
    pub fn state_actions(&self, observations: Tensor<2>, actions: Tensor<2>) -> Tensor<2> {
        let [n, _] = observations.dims();
        let mask = Tensor::ones([n, 1], &observations.device());
        self.mask_actions(observations, actions, mask)
    }

    /// Returns the rows of a batch: a random fraction of them without actions, the others with
    /// their actions. The selection is a pure function of seed and step.
    pub fn of_batch(
        &self,
        batch: &DeviceBatch,
        context: &LearnerContext,
        state_only_fraction: f64,
    ) -> Tensor<2> {
        let has_action = |draw: f64| f32::from(u8::from(draw < 1.0 - state_only_fraction));
        let mask = row_draws(RowChoice::Action, batch, context).into_iter().map(has_action).collect();
        let mask = Tensor::from_data(TensorData::new(mask, [batch.rows(), 1]), &context.device);
        self.mask_actions(batch.observations.clone(), batch.actions.clone(), mask)
    }

    /// Returns rows with actions where `mask: [n, 1]` is 1, and without where it is 0.
    fn mask_actions(&self, observations: Tensor<2>, actions: Tensor<2>, mask: Tensor<2>) -> Tensor<2> {
        if self.action_width == 0 {
            return observations;
        }
        Tensor::cat(vec![observations, actions * mask.clone(), mask], 1)
    }
}
