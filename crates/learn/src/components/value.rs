//! Goal-conditioned value functions: minus the discounted number of steps to the goal.

use super::Preset;
use crate::{
    context::LearnerContext,
    export::{Graph, Value},
};
use burn::{module::Module, tensor::Tensor};
use isochrone_core::Discount;
use isochrone_data::sampling::{GoalDistributionConfig, GoalMixture};
use isochrone_nn::{
    error::ConfigError,
    module::{Encoder, EncoderConfig, Initializer, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// The minimum of `E[gamma^H]`, which bounds the distance to unreachable goals.
const MIN_DISCOUNTED: f32 = 1e-6;

/// Converts `V = -(1 - E[gamma^H]) / (1 - gamma)`, the value of a reward of -1 for every step until
/// the goal, to nats: `-ln E[gamma^H] = -ln(1 + (1 - gamma) V)`.
///
/// The value of the optimal policy therefore is a successor distance. The result is at most `ln
/// 10^6`.
pub fn nats_of_value(value: Tensor<1>, discount: Discount) -> Tensor<1> {
    let discounted = value * (1.0 - discount.gamma()) + 1.0;
    discounted.clamp(MIN_DISCOUNTED, 1.0).log().neg()
}

/// Adds [`nats_of_value`] to a graph.
pub fn onnx_nats_of_value(graph: &mut Graph, value: &Value, discount: Discount) -> Value {
    let (per_step, one) = (graph.number(1.0 - discount.gamma()), graph.number(1.0));
    let scaled = graph.op("Mul", &[value, &per_step]);
    let discounted = graph.op("Add", &[&scaled, &one]);
    let min = graph.number(f64::from(MIN_DISCOUNTED));
    let clamped = graph.op("Clip", &[&discounted, &min, &one]);
    let log = graph.op("Log", &[&clamped]);
    graph.op("Neg", &[&log])
}

/// Returns the Bellman target: `0` at the goal, otherwise `-1 + gamma V(s', g)`.
///
/// # Shapes
/// `next_values, at_goal: [n]`
pub fn value_of_reward(next_values: Tensor<1>, at_goal: Tensor<1>, discount: Discount) -> Tensor<1> {
    (next_values * discount.gamma() - 1.0) * (at_goal.neg() + 1.0)
}

/// Returns the goal distribution of OGBench: 0.2 the state itself, 0.5 a later state of the
/// episode, 0.3 a random state.
pub fn hindsight_goals() -> GoalDistributionConfig {
    let mixture = GoalMixture { current: 0.2, geometric: 0.5, uniform: 0.0, random: 0.3 };
    GoalDistributionConfig { mixture, ..GoalDistributionConfig::default() }
}

/// The networks of a value function.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueConfig {
    /// The hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
}

impl ValueConfig {
    /// Returns the value networks of a preset.
    pub fn preset(preset: Preset) -> Self {
        Self { trunk: preset.trunk() }
    }

    /// Builds `count` independent value networks of states, with or without actions, and full goal
    /// states.
    ///
    /// # Errors
    /// If a size is zero.
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

/// An ensemble of independent value networks. The parameters are named `members.{i}.…`.
#[derive(Module, Debug)]
pub struct Values {
    members: Vec<Encoder>,
}

impl Values {
    /// Returns the values of all members, each `[n]`, for rows `[state, action if any, goal]`.
    pub fn all(&self, parts: Vec<Tensor<2>>) -> Vec<Tensor<1>> {
        let rows = Tensor::cat(parts, 1);
        let [n, _] = rows.dims();
        self.members.iter().map(|member| member.forward(rows.clone()).reshape([n])).collect()
    }

    /// Returns the minimum over members, `[n]`, so that a policy does not exploit overestimates.
    pub fn min(&self, parts: Vec<Tensor<2>>) -> Tensor<1> {
        self.all(parts).into_iter().reduce(Tensor::min_pair).expect("there is at least one")
    }

    /// Adds [`min`](Self::min) to a graph.
    pub fn onnx_min(&self, graph: &mut Graph, parts: &[&Value]) -> Value {
        let rows = graph.concat(1, parts);
        let values: Vec<Value> = self.members.iter().map(|member| graph.encoder(member, &rows)).collect();
        let (min, column) = (graph.combined("Min", &values), graph.integers(&[1]));
        graph.op("Squeeze", &[&min, &column])
    }
}
