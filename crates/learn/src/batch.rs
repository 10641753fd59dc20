//! Transfer of batches from host memory to the device.

use crate::{context::LearnerContext, scaling::Scaling};
use burn::tensor::{Device, Int, Tensor, TensorData};
use isochrone_data::{
    DataError, Dataset,
    sampling::{GoalBatch, GoalDistribution, GoalDistributionConfig, GoalRows, GoalSampler, SamplerConfig},
};
use std::ops::Range;

/// A batch of scaled transitions and goals. Row `i` of every tensor belongs to the same transition.
#[derive(Debug, Clone)]
pub struct DeviceBatch {
    /// The index of the batch.
    pub step: u64,
    /// The states *s*, `[n, observation width]`.
    pub observations: Tensor<2>,
    /// The actions *a* in `[-1, 1]`, `[n, action width]`.
    pub actions: Tensor<2>,
    /// The next states *s'*, `[n, observation width]`.
    pub next_observations: Tensor<2>,
    /// The goals of each distribution of [`Learner::goals`](crate::Learner::goals), in that order.
    pub goals: Vec<DeviceGoals>,
}

/// One goal for each row of a batch.
#[derive(Debug, Clone)]
pub struct DeviceGoals {
    /// The goals *g* as full states, `[n, observation width]`.
    pub observations: Tensor<2>,
    /// The dimensions of the goals that are the policy's input, `[n, goal width]`.
    pub policy_goals: Tensor<2>,
    /// 1 where the state equals its goal, otherwise 0, `[n]`.
    pub at_goal: Tensor<1>,
    /// The number of steps to each goal in the same episode; otherwise
    /// [`OTHER_EPISODE`](isochrone_data::sampling::OTHER_EPISODE).
    pub offsets: Vec<i32>,
}

impl DeviceBatch {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.observations.dims()[0]
    }

    /// Returns the states `[n, observation width]` of the last goal distribution, but never beyond
    /// the goal of the same row.
    pub fn later_states(&self, goals: &DeviceGoals) -> Tensor<2> {
        let later = self.goals.last().expect("a learner has goals");
        let n = self.rows();
        let is_beyond = |(to_goal, offset): (&i32, &i32)| (1..*offset).contains(to_goal);
        let pairs = goals.offsets.iter().zip(&later.offsets);
        let chosen = pairs.zip(0..).map(|(pair, row)| if is_beyond(pair) { n as i64 + row } else { row });
        let chosen = TensorData::new(chosen.collect::<Vec<i64>>(), [n]);
        let chosen: Tensor<1, Int> = Tensor::from_data(chosen, &self.observations.device());
        Tensor::cat(vec![later.observations.clone(), goals.observations.clone()], 0).select(0, chosen)
    }
}

/// The rows of a batch that one process samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// The number of rows.
    pub batch_size: usize,
    /// The number of consecutive rows from the same episode.
    pub rows_per_episode: usize,
}

/// Returns the sampler of a learner's batches with these goal distributions.
pub fn sampler(
    goals: Vec<GoalDistributionConfig>,
    data: &Dataset,
    Rows { batch_size, rows_per_episode }: Rows,
    context: &LearnerContext,
) -> Result<GoalSampler, DataError> {
    let goals = goals.into_iter().map(|config| GoalDistribution::new(config, context.discount));
    let goals = goals.collect::<Result<_, _>>()?;
    let first_row = context.processes.first_row(batch_size);
    let (seed, stream) = (context.seed, 0);
    GoalSampler::new(data, SamplerConfig { batch_size, first_row, rows_per_episode, goals, seed, stream })
}

/// Scales rows and transfers them to the device.
#[derive(Debug, Clone)]
pub struct BatchTransform {
    scaling: Scaling,
    goal: Range<usize>,
    device: Device,
}

impl BatchTransform {
    /// Creates a transform with this scaling.
    pub fn new(context: &LearnerContext, scaling: Scaling) -> Self {
        Self { scaling, goal: context.goal.clone(), device: context.device.clone() }
    }

    /// Scales and transfers a batch.
    pub fn batch(&self, batch: &GoalBatch) -> DeviceBatch {
        let width = self.scaling.action.shift.len();
        let actions = TensorData::new(self.scaling.action.scaled(&batch.actions), [batch.rows(), width]);
        DeviceBatch {
            step: batch.step,
            observations: self.observations(&batch.observations),
            // The policy cannot output actions outside of the range.
            actions: Tensor::from_data(actions, &self.device).clamp(-1.0, 1.0),
            next_observations: self.observations(&batch.next_observations),
            goals: batch.goals.iter().map(|goals| self.goals(&batch.observations, goals)).collect(),
        }
    }

    fn goals(&self, states: &[f32], goals: &GoalRows) -> DeviceGoals {
        let observations = self.observations(&goals.observations);
        // By value, not by offset: where states recur, a state may equal its goal by chance.
        let width = self.scaling.observation.shift.len();
        let pairs = states.chunks_exact(width).zip(goals.observations.chunks_exact(width));
        let at_goal: Vec<f32> = pairs.map(|(state, goal)| f32::from(u8::from(state == goal))).collect();
        let at_goal = TensorData::new(at_goal, [goals.offsets.len()]);
        DeviceGoals {
            policy_goals: self.policy_goals(observations.clone()),
            observations,
            at_goal: Tensor::from_data(at_goal, &self.device),
            offsets: goals.offsets.clone(),
        }
    }

    /// Scales and transfers observations `[n, observation width]`.
    pub fn observations(&self, rows: &[f32]) -> Tensor<2> {
        let width = self.scaling.observation.shift.len();
        let scaled = self.scaling.observation.scaled(rows);
        Tensor::from_data(TensorData::new(scaled, [rows.len() / width, width]), &self.device)
    }

    /// Selects the dimensions of scaled states that are the policy's goal input.
    pub fn policy_goals(&self, observations: Tensor<2>) -> Tensor<2> {
        observations.narrow(1, self.goal.start, self.goal.len())
    }

    /// Returns actions `[n, action width]` in the units of the data.
    pub fn actions_to_host(&self, actions: Tensor<2>) -> Vec<f32> {
        let mut rows: Vec<f32> = actions.into_data().try_into_vec().expect("single precision");
        self.scaling.action.unscale(&mut rows);
        rows
    }

    /// The dimensions of an observation that are the policy's goal input.
    pub fn goal(&self) -> Range<usize> {
        self.goal.clone()
    }

    /// Whether rows are transferred to the CPU backend.
    pub fn is_on_cpu(&self) -> bool {
        isochrone_nn::op::is_flex(&self.device)
    }

    /// The scaling of the data.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }
}
