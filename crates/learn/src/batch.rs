//! From host memory to the device.

use crate::{context::LearnerContext, scaling::Scaling};
use burn::tensor::{Device, Tensor, TensorData};
use isochrone_data::{
    DataError, Dataset,
    sampling::{GoalBatch, GoalDistribution, GoalDistributionConfig, GoalRows, GoalSampler, SamplerConfig},
};
use std::ops::Range;

/// Transitions with goals as tensors, scaled. Row `i` of every tensor belongs together.
#[derive(Debug, Clone)]
pub struct DeviceBatch {
    /// The number of the batch.
    pub step: u64,
    /// `[n, observation width]`: s.
    pub observations: Tensor<2>,
    /// `[n, action width]`: a, in `[-1, 1]`.
    pub actions: Tensor<2>,
    /// `[n, observation width]`: s'.
    pub next_observations: Tensor<2>,
    /// One for each distribution that the learner asked for, in its order.
    pub goals: Vec<DeviceGoals>,
}

/// The goals of a batch's rows.
#[derive(Debug, Clone)]
pub struct DeviceGoals {
    /// `[n, observation width]`: g, whole states.
    pub observations: Tensor<2>,
    /// `[n, goal width]`: the dimensions of them that a policy is given.
    pub policy_goals: Tensor<2>,
    /// `[n]`: 1 where the state is its own goal, otherwise 0.
    pub at_goal: Tensor<1>,
}

impl DeviceBatch {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.observations.dims()[0]
    }
}

/// Samples the batches of a learner, with the goals that it asks for.
pub fn sampler(
    goals: Vec<GoalDistributionConfig>,
    data: &Dataset,
    (batch_size, rows_per_episode): (usize, usize),
    context: &LearnerContext,
) -> Result<GoalSampler, DataError> {
    let laws = goals.into_iter().map(|law| GoalDistribution::new(law, context.discount));
    let goals = laws.collect::<Result<_, _>>()?;
    GoalSampler::new(
        data,
        SamplerConfig { batch_size, rows_per_episode, goals, seed: context.seed, stream: 0 },
    )
}

/// Scales rows and brings them to the device.
#[derive(Debug, Clone)]
pub struct BatchTransform {
    scaling: Scaling,
    goal: Range<usize>,
    device: Device,
}

impl BatchTransform {
    /// A transform for data of this scale.
    pub fn new(context: &LearnerContext, scaling: Scaling) -> Self {
        Self { scaling, goal: context.goal.clone(), device: context.device.clone() }
    }

    /// A whole batch.
    pub fn batch(&self, batch: &GoalBatch) -> DeviceBatch {
        let width = self.scaling.action.shift.len();
        let actions = TensorData::new(self.scaling.action.scaled(&batch.actions), [batch.rows(), width]);
        DeviceBatch {
            step: batch.step,
            observations: self.observations(&batch.observations),
            // A policy has no actions beyond the range.
            actions: Tensor::from_data(actions, &self.device).clamp(-1.0, 1.0),
            next_observations: self.observations(&batch.next_observations),
            goals: batch.goals.iter().map(|goals| self.goals(&batch.observations, goals)).collect(),
        }
    }

    fn goals(&self, states: &[f32], goals: &GoalRows) -> DeviceGoals {
        let observations = self.observations(&goals.observations);
        // By value, not by offset: where states come back, a state may be at its goal by chance.
        let width = self.scaling.observation.shift.len();
        let pairs = states.chunks_exact(width).zip(goals.observations.chunks_exact(width));
        let at_goal: Vec<f32> = pairs.map(|(state, goal)| f32::from(u8::from(state == goal))).collect();
        let at_goal = TensorData::new(at_goal, [goals.offsets.len()]);
        DeviceGoals {
            policy_goals: self.policy_goals(observations.clone()),
            observations,
            at_goal: Tensor::from_data(at_goal, &self.device),
        }
    }

    /// Rows `[n, observation width]` of the data, scaled.
    pub fn observations(&self, rows: &[f32]) -> Tensor<2> {
        let width = self.scaling.observation.shift.len();
        let scaled = self.scaling.observation.scaled(rows);
        Tensor::from_data(TensorData::new(scaled, [rows.len() / width, width]), &self.device)
    }

    /// The dimensions of scaled states that a policy is given as its goal.
    pub fn policy_goals(&self, observations: Tensor<2>) -> Tensor<2> {
        observations.narrow(1, self.goal.start, self.goal.len())
    }

    /// Actions `[n, action width]` in the units of the data.
    pub fn actions_to_host(&self, actions: Tensor<2>) -> Vec<f32> {
        let mut rows: Vec<f32> = actions.into_data().try_into_vec().expect("single precision");
        self.scaling.action.unscale(&mut rows);
        rows
    }

    /// The scale of the data.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }
}
