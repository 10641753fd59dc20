//! From host memory to the device: the only crossing.

use crate::{learner::Learner, scaling::Scaling, setting::Setting};
use burn::tensor::{Device, Tensor, TensorData};
use isochrone_data::{
    DataError, Dataset,
    sampling::{GoalBatch, GoalDistribution, GoalRows, GoalSampler, SamplerConfig},
};
use std::{ops::Range, sync::Arc};

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
    /// One for each law that the learner asked for, in its order.
    pub goals: Vec<DeviceGoals>,
}

/// The goals of a batch's rows.
#[derive(Debug, Clone)]
pub struct DeviceGoals {
    /// `[n, observation width]`: g, whole states.
    pub observations: Tensor<2>,
    /// `[n, goal width]`: what a policy is told of them.
    pub for_policy: Tensor<2>,
    /// `[n]`: 1 where the state is its own goal, otherwise 0.
    pub is_here: Tensor<1>,
}

impl DeviceBatch {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.observations.dims()[0]
    }
}

/// Draws the batches of a learner from data: the goals that it asks for, with the discount and the seed of its setting.
///
/// # Errors
/// If there is nothing to draw from, or a law is impossible.
pub fn sampler(
    learner: &dyn Learner,
    data: Arc<Dataset>,
    batch_size: usize,
    setting: &Setting,
) -> Result<GoalSampler, DataError> {
    let laws = learner.goals().into_iter().map(|law| GoalDistribution::new(law, setting.discount));
    let goals = laws.collect::<Result<_, _>>()?;
    GoalSampler::new(&data, SamplerConfig { batch_size, goals, seed: setting.seed, stream: 0 })
}

/// Scales rows and brings them to the device.
#[derive(Debug, Clone)]
pub struct Crossing {
    scaling: Scaling,
    goal: Range<usize>,
    device: Device,
}

impl Crossing {
    /// For data of this scale.
    pub fn new(setting: &Setting, scaling: Scaling) -> Self {
        Self { scaling, goal: setting.goal.clone(), device: setting.device.clone() }
    }

    /// A whole batch.
    pub fn batch(&self, batch: &GoalBatch) -> DeviceBatch {
        let width = self.scaling.action.shift.len();
        let actions = TensorData::new(self.scaling.action.scaled(&batch.actions), [batch.rows(), width]);
        DeviceBatch {
            step: batch.step,
            observations: self.observations(&batch.observations),
            // Nothing beyond the range is ever asked of a policy.
            actions: Tensor::from_data(actions, &self.device).clamp(-1.0, 1.0),
            next_observations: self.observations(&batch.next_observations),
            goals: batch.goals.iter().map(|goals| self.goals(&batch.observations, goals)).collect(),
        }
    }

    fn goals(&self, states: &[f32], goals: &GoalRows) -> DeviceGoals {
        let observations = self.observations(&goals.observations);
        // By value, not by offset: where states come back, one may be at the goal without having meant to.
        let width = self.scaling.observation.shift.len();
        let pairs = states.chunks_exact(width).zip(goals.observations.chunks_exact(width));
        let is_here: Vec<f32> = pairs.map(|(state, goal)| f32::from(u8::from(state == goal))).collect();
        let is_here = TensorData::new(is_here, [goals.offsets.len()]);
        DeviceGoals {
            for_policy: self.goals_for_policy(observations.clone()),
            observations,
            is_here: Tensor::from_data(is_here, &self.device),
        }
    }

    /// Rows `[n, observation width]` of the data, scaled.
    pub fn observations(&self, rows: &[f32]) -> Tensor<2> {
        let width = self.scaling.observation.shift.len();
        let scaled = self.scaling.observation.scaled(rows);
        Tensor::from_data(TensorData::new(scaled, [rows.len() / width, width]), &self.device)
    }

    /// What a policy is told of scaled whole states.
    pub fn goals_for_policy(&self, observations: Tensor<2>) -> Tensor<2> {
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
