//! Goal-conditioned values: minus the discounted number of steps until the goal is reached.

use super::Preset;
use crate::context::LearnerContext;
use burn::{module::Module, tensor::Tensor};
use isochrone_core::Discount;
use isochrone_data::sampling::{GoalDistributionConfig, GoalMixture};
use isochrone_nn::{
    error::ConfigError,
    module::{Encoder, EncoderConfig, Initializer, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// Smallest `E[gamma^H]`, for values of goals that can never be reached.
const MIN_REACH: f32 = 1e-6;

/// `-(1 - E[gamma^H]) / (1 - gamma)`, the value of a reward of -1 for every step until the goal, as nats:
/// `-ln E[gamma^H] = -ln(1 + (1 - gamma) V)`.
///
/// So the value of the optimal policy is a successor distance. Values below what any goal can have give `ln 10^6`.
pub fn nats_of_value(value: Tensor<1>, discount: Discount) -> Tensor<1> {
    let reach = value * (1.0 - discount.gamma()) + 1.0;
    reach.clamp(MIN_REACH, 1.0).log().neg()
}

/// `0` at the goal, otherwise `-1 + gamma V(s', g)`.
///
/// # Shapes
/// `next_values, at_goal: [n]`
pub fn value_of_reward(next_values: Tensor<1>, at_goal: Tensor<1>, discount: Discount) -> Tensor<1> {
    (next_values * discount.gamma() - 1.0) * (at_goal.neg() + 1.0)
}

/// The goals of OGBench: 0.2 the state itself, 0.5 later in the episode, 0.3 random.
pub fn hindsight_goals() -> GoalDistributionConfig {
    let mixture = GoalMixture { current: 0.2, geometric: 0.5, uniform: 0.0, random: 0.3 };
    GoalDistributionConfig { mixture, ..GoalDistributionConfig::default() }
}

/// The networks of a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueConfig {
    /// Hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
}

impl ValueConfig {
    /// The value network of a preset.
    pub fn preset(preset: Preset) -> Self {
        Self { trunk: preset.trunk() }
    }

    /// Builds `count` independent values of states, with actions or without, and whole goals; no size may be zero.
    pub fn init(
        &self,
        context: &LearnerContext,
        with_actions: bool,
        count: usize,
        init: &mut Initializer,
    ) -> Result<Values, ConfigError> {
        let actions = if with_actions { context.action_width } else { 0 };
        let inputs = 2 * context.observation_width + actions;
        let members = (0..count).map(|_| EncoderConfig { inputs, outputs: 1, trunk: self.trunk }.init(init));
        Ok(Values { members: members.collect::<Result<_, _>>()? })
    }
}

/// An ensemble of independent values. Parameters are called `members.{i}.…`.
#[derive(Module, Debug)]
pub struct Values {
    members: Vec<Encoder>,
}

impl Values {
    /// The values of all members, each `[n]`, of rows `[state, action if any, goal]`.
    pub fn all(&self, parts: Vec<Tensor<2>>) -> Vec<Tensor<1>> {
        let rows = Tensor::cat(parts, 1);
        let [n, _] = rows.dims();
        self.members.iter().map(|member| member.forward(rows.clone()).reshape([n])).collect()
    }

    /// The smallest value, `[n]`: what a policy maximizes must not be a lucky overestimate.
    pub fn min(&self, parts: Vec<Tensor<2>>) -> Tensor<1> {
        self.all(parts).into_iter().reduce(Tensor::min_pair).expect("there is at least one")
    }
}
