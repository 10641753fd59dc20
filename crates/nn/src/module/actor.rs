//! Goal-conditioned policies with actions in `[-1, 1]`.

use super::{Encoder, EncoderConfig, Initializer, TrunkConfig, mixture::Mixture};
use crate::error::{ConfigError, at_least_one};
use burn::{
    module::Module,
    tensor::{Tensor, TensorData},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The type of the action distribution of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PolicyDistribution {
    /// `tanh(u)`, `u ~ N(mean, e^(2 log_std))`, with a learned `log_std` clamped to the given
    /// range.
    TanhGaussian {
        /// Minimum of `log_std`.
        #[serde(default = "default_min_log_std")]
        min_log_std: f32,
        /// Maximum of `log_std`.
        #[serde(default = "default_max_log_std")]
        max_log_std: f32,
    },
    /// `N(tanh(mean), std^2)`, clipped to `[-1, 1]` when sampled.
    FixedStd {
        /// Standard deviation.
        #[serde(default = "default_std")]
        std: f32,
    },
    /// A mixture of Gaussians `N(tanh(mean), e^(2 log_std))`, clipped to `[-1, 1]` when sampled;
    /// the mode is the mean of the heaviest.
    Mixture {
        /// The number of Gaussians.
        #[serde(default = "default_components")]
        components: usize,
        /// Minimum of `log_std`.
        #[serde(default = "default_min_log_std")]
        min_log_std: f32,
        /// Maximum of `log_std`.
        #[serde(default = "default_max_log_std")]
        max_log_std: f32,
    },
}

fn default_components() -> usize {
    4
}

fn default_min_log_std() -> f32 {
    -5.0
}

fn default_max_log_std() -> f32 {
    2.0
}

fn default_std() -> f32 {
    1.0
}

impl Default for PolicyDistribution {
    fn default() -> Self {
        Self::TanhGaussian { min_log_std: default_min_log_std(), max_log_std: default_max_log_std() }
    }
}

/// The configuration of a goal-conditioned policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActorConfig {
    /// The width of an observation plus that of a goal.
    pub inputs: usize,
    /// The width of an action.
    pub actions: usize,
    /// Hidden layers.
    #[serde(default)]
    pub trunk: TrunkConfig,
    /// Distribution of actions.
    #[serde(default)]
    pub distribution: PolicyDistribution,
}

impl ActorConfig {
    /// Builds the network.
    ///
    /// # Errors
    /// If a size is zero, the range of `log_std` is empty, or `std` is not positive.
    pub fn init(&self, init: &mut Initializer) -> Result<Actor, ConfigError> {
        let actions = at_least_one("actions", self.actions)?;
        let check_range = |min: f32, max: f32| {
            if min.is_finite() && max.is_finite() && min < max {
                return Ok(());
            }
            let (value, problem) = (format!("[{min}, {max}]"), "is an empty range of log_std");
            Err(ConfigError::new("distribution", value, problem, "use -5 and 2"))
        };
        let outputs = match self.distribution {
            PolicyDistribution::TanhGaussian { min_log_std, max_log_std } => {
                check_range(min_log_std, max_log_std)?;
                2 * actions
            }
            PolicyDistribution::Mixture { components, min_log_std, max_log_std } => {
                check_range(min_log_std, max_log_std)?;
                Mixture::outputs(at_least_one("distribution.components", components)?, actions)
            }
            PolicyDistribution::FixedStd { std } => {
                if !(std.is_finite() && std > 0.0) {
                    let hint = "use a number like 0.2";
                    return Err(ConfigError::new("distribution.std", std, "must be positive", hint));
                }
                actions
            }
        };
        let network = EncoderConfig { inputs: self.inputs, outputs, trunk: self.trunk }.init(init)?;
        Ok(Actor { network, actions, distribution: self.distribution })
    }
}

/// A goal-conditioned policy; see [`ActorConfig`].
#[derive(Module, Debug)]
pub struct Actor {
    network: Encoder,
    #[module(skip)]
    actions: usize,
    #[module(skip)]
    distribution: PolicyDistribution,
}

impl Actor {
    /// Returns the distribution of actions.
    ///
    /// # Shapes
    /// `observations: [n, o]`, `goals: [n, g]` with `o + g = inputs`.
    pub fn forward(&self, observations: Tensor<2>, goals: Tensor<2>) -> ActionDistribution {
        let outputs = self.network.forward(Tensor::cat(vec![observations, goals], 1));
        match self.distribution {
            PolicyDistribution::TanhGaussian { min_log_std, max_log_std } => {
                ActionDistribution::TanhGaussian {
                    mean: outputs.clone().narrow(1, 0, self.actions),
                    log_std: outputs.narrow(1, self.actions, self.actions).clamp(min_log_std, max_log_std),
                }
            }
            PolicyDistribution::FixedStd { std } => {
                ActionDistribution::FixedStd { mean: outputs.tanh(), std }
            }
            PolicyDistribution::Mixture { components, min_log_std, max_log_std } => {
                let range = (min_log_std, max_log_std);
                ActionDistribution::Mixture(Mixture::new(outputs, components, self.actions, range))
            }
        }
    }

    /// Returns the actor of observations and goals that equals this actor of observations *s* and
    /// displacements `(g - s) factor`. `goal` are the dimensions of an observation that form a
    /// goal.
    ///
    /// The first layer is linear: `s A + (g - s) F B = s (A - F B) + g F B`.
    ///
    /// # Panics
    /// If the widths differ.
    #[must_use]
    pub fn with_displacements(self, goal: Range<usize>, factor: &[f32]) -> Self {
        assert_eq!(goal.len(), factor.len(), "one factor for each dimension of a goal");
        let change = |weight: Tensor<2>| {
            let [inputs, _] = weight.dims();
            let width = inputs - goal.len();
            let factor = TensorData::new(factor.to_vec(), [goal.len(), 1]);
            let of_goals = weight.clone().narrow(0, width, goal.len())
                * Tensor::<2>::from_data(factor, &weight.device());
            let rows = |from: usize, to: usize| weight.clone().slice(from..to);
            let of_goal = rows(goal.start, goal.end) - of_goals.clone();
            let parts =
                [(0, goal.start), (goal.end, width)].map(|(from, to)| (from < to).then(|| rows(from, to)));
            let [before, after] = parts;
            Tensor::cat([before, Some(of_goal), after, Some(of_goals)].into_iter().flatten().collect(), 0)
        };
        Self { network: self.network.map_first(change), ..self }
    }

    /// Returns the network of observations and goals. The mode of a distribution is `tanh` of its
    /// first [`actions`](Self::actions) outputs; that of a mixture is `tanh` of those of its
    /// heaviest component.
    pub fn network(&self) -> &Encoder {
        &self.network
    }

    /// Returns the width of an action.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// Returns the type of the distribution.
    pub fn distribution(&self) -> PolicyDistribution {
        self.distribution
    }
}

/// A distribution of actions for each of `n` rows, `[n, actions]`.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one per batch; a tensor is a handle")]
pub enum ActionDistribution {
    /// A Gaussian before `tanh`.
    TanhGaussian {
        /// Mean of the Gaussian.
        mean: Tensor<2>,
        /// Logarithm of its standard deviation.
        log_std: Tensor<2>,
    },
    /// A Gaussian around a mean after `tanh`.
    FixedStd {
        /// Mean, in `[-1, 1]`.
        mean: Tensor<2>,
        /// Standard deviation.
        std: f32,
    },
    /// A mixture of Gaussians.
    Mixture(Mixture),
}

/// `ln sqrt(2 pi)`
const LOG_SQRT_TAU: f32 = 0.918_938_5;
/// Dataset actions are clipped to this magnitude, at which `atanh` is finite.
const MAX_ACTION: f32 = 0.999;

impl ActionDistribution {
    /// Returns actions `[n, actions]` for standard normal `noise` of the same shape. Differentiable
    /// (reparameterized).
    pub fn sample(&self, noise: Tensor<2>) -> Tensor<2> {
        match self {
            Self::TanhGaussian { mean, log_std } => (mean.clone() + log_std.clone().exp() * noise).tanh(),
            Self::FixedStd { mean, std } => (mean.clone() + noise * *std).clamp(-1.0, 1.0),
            Self::Mixture(mixture) => mixture.sample(noise),
        }
    }

    /// Returns the deterministic action, `[n, actions]`.
    pub fn mode(&self) -> Tensor<2> {
        match self {
            Self::TanhGaussian { mean, .. } => mean.clone().tanh(),
            Self::FixedStd { mean, .. } => mean.clone(),
            Self::Mixture(mixture) => mixture.mode(),
        }
    }

    /// Returns the log-density `[n]` of `actions: [n, actions]`.
    ///
    /// For `tanh(u)`, `ln(1 - a^2)` is subtracted per coordinate, and actions are clipped to
    /// magnitude 0.999.
    pub fn log_prob(&self, actions: Tensor<2>) -> Tensor<1> {
        let [n, width] = actions.dims();
        let terms = match self {
            Self::TanhGaussian { mean, log_std } => {
                let actions = actions.clamp(-MAX_ACTION, MAX_ACTION);
                let before = ((actions.clone() + 1.0).log() - (actions.clone().neg() + 1.0).log()) * 0.5;
                let standard = (before - mean.clone()) * log_std.clone().neg().exp();
                standard.square() * -0.5 - log_std.clone() - (actions.square().neg() + 1.0).log()
            }
            Self::FixedStd { mean, std } => ((actions - mean.clone()) / *std).square() * -0.5 - std.ln(),
            Self::Mixture(mixture) => return mixture.log_prob(actions),
        };
        (terms.sum_dim(1) - LOG_SQRT_TAU * width as f32).reshape([n])
    }
}
