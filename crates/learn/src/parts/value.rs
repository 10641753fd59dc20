//! Values of goals: minus the discounted number of steps until one is reached.

use super::Size;
use crate::setting::Setting;
use burn::{module::Module, tensor::Tensor};
use isochrone_core::Discount;
use isochrone_nn::{
    error::ConfigError,
    module::{Encoder, EncoderConfig, Initialiser, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// No goal is taken to be less likely: `E[gamma^H]` of a value that says it can never be reached.
const LEAST_REACH: f32 = 1e-6;

/// `-(1 - E[gamma^H]) / (1 - gamma)`, the value of a reward of -1 for every step until the goal, as nats: `-ln E[gamma^H] = -ln(1 + (1 - gamma) V)`.
///
/// So a value is a successor distance, if it is that of the best policy. Values below what any goal can have give `ln 10^6`.
pub fn nats_of_value(value: Tensor<1>, discount: Discount) -> Tensor<1> {
    let reach = value * (1.0 - discount.gamma()) + 1.0;
    reach.clamp(LEAST_REACH, 1.0).log().neg()
}

/// `0` at the goal, otherwise `-1 + gamma V(s', g)`.
///
/// # Shapes
/// `next_values, is_here: [n]`
pub fn value_of_reward(next_values: Tensor<1>, is_here: Tensor<1>, discount: Discount) -> Tensor<1> {
    (next_values * discount.gamma() - 1.0) * (is_here.neg() + 1.0)
}

/// The networks of a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueConfig {
    /// Hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
}

impl ValueConfig {
    /// Of a preset.
    pub fn of(size: Size) -> Self {
        Self { trunk: size.trunk() }
    }

    /// `count` independent values of states, with actions if said, and whole goals.
    pub fn init(
        &self,
        setting: &Setting,
        with_actions: bool,
        count: usize,
        init: &mut Initialiser,
    ) -> Result<Values, ConfigError> {
        let actions = if with_actions { setting.action_width } else { 0 };
        let inputs = 2 * setting.observation_width + actions;
        let members = (0..count).map(|_| EncoderConfig { inputs, outputs: 1, trunk: self.trunk }.init(init));
        Ok(Values { members: members.collect::<Result<_, _>>()? })
    }
}

/// Independent values of the same thing. Parameters are called `members.{i}.…`.
#[derive(Module, Debug)]
pub struct Values {
    members: Vec<Encoder>,
}

impl Values {
    /// All of them, each `[n]`, of rows `[state, action if any, goal]`.
    pub fn all(&self, parts: Vec<Tensor<2>>) -> Vec<Tensor<1>> {
        let rows = Tensor::cat(parts, 1);
        let [n, _] = rows.dims();
        self.members.iter().map(|member| member.forward(rows.clone()).reshape([n])).collect()
    }

    /// The smallest, `[n]`: what a policy climbs must not be a lucky overestimate.
    pub fn least(&self, parts: Vec<Tensor<2>>) -> Tensor<1> {
        self.all(parts).into_iter().reduce(Tensor::min_pair).expect("there is at least one")
    }
}
