//! What a critic is shown: a state, with or without an action.

use crate::{batch::DeviceBatch, context::LearnerContext};
use burn::tensor::{Tensor, TensorData};
use isochrone_core::rng;

/// Random streams with this bit belong to updates; sampling and parameters have others.
const UPDATES: u64 = 1 << 62;

/// Rows `[s, a, 1]` for a state with an action, and `[s, 0, 0]` for a state alone.
///
/// One network then knows both `d((s, a), g)`, which a policy is extracted from, and `d(s, g)`, which users query: for a
/// state alone, the contrastive optimum is the average over the actions of the behavior policy. Goals are states alone:
/// the distance to a goal does not depend on the action taken there, so that nothing is gained by attaching an action of
/// the data to it, as published code does. Where the data have no actions, a row is just `[s]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CriticInput {
    observation_width: usize,
    action_width: usize,
}

impl CriticInput {
    /// Rows for data of these widths.
    pub fn new(context: &LearnerContext) -> Self {
        Self { observation_width: context.observation_width, action_width: context.action_width }
    }

    /// Width of a row.
    pub fn width(&self) -> usize {
        match self.action_width {
            0 => self.observation_width,
            width => self.observation_width + width + 1,
        }
    }

    /// Rows of states alone.
    ///
    /// # Shapes
    /// `[n, observation width]` gives `[n, width]`.
    pub fn states(&self, observations: Tensor<2>) -> Tensor<2> {
        let [n, _] = observations.dims();
        if self.action_width == 0 {
            return observations;
        }
        let nothing = Tensor::zeros([n, self.action_width + 1], &observations.device());
        Tensor::cat(vec![observations, nothing], 1)
    }

    /// Rows of states with actions.
    ///
    /// # Shapes
    /// `[n, observation width]` and `[n, action width]` give `[n, width]`.
    pub fn state_actions(&self, observations: Tensor<2>, actions: Tensor<2>) -> Tensor<2> {
        let [n, _] = observations.dims();
        let mask = Tensor::ones([n, 1], &observations.device());
        self.mask_actions(observations, actions, mask)
    }

    /// The rows of a batch: a fraction of them, drawn anew at every step, states alone, the others with their actions. The draw
    /// is a pure function of seed and step.
    pub fn of_batch(
        &self,
        batch: &DeviceBatch,
        context: &LearnerContext,
        state_only_fraction: f64,
    ) -> Tensor<2> {
        let mut random = rng::stream(context.seed, UPDATES | batch.step);
        let mut draw = || f32::from(u8::from(rng::unit_f64(&mut random) < 1.0 - state_only_fraction));
        let mask = (0..batch.rows()).map(|_| draw()).collect();
        let mask = Tensor::from_data(TensorData::new(mask, [batch.rows(), 1]), &context.device);
        self.mask_actions(batch.observations.clone(), batch.actions.clone(), mask)
    }

    /// States, with actions where `mask: [n, 1]` is 1 and alone where it is 0.
    fn mask_actions(&self, observations: Tensor<2>, actions: Tensor<2>, mask: Tensor<2>) -> Tensor<2> {
        if self.action_width == 0 {
            return observations;
        }
        Tensor::cat(vec![observations, actions * mask.clone(), mask], 1)
    }
}
