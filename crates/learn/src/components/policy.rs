//! Policies extracted from a distance or cloned from the data.

use super::{CriticInput, GoalInput, Preset, displacement::Displacement};
use crate::{
    batch::{DeviceBatch, DeviceGoals},
    context::LearnerContext,
    processes::Processes,
};
use burn::tensor::Tensor;
use isochrone_core::Discount;
use isochrone_data::sampling::{GoalDistributionConfig, GoalMixture, MinOffset};
use isochrone_nn::{
    error::{ConfigError, StateError},
    loss::{Loss, awr, ddpg_bc},
    module::{ActionDistribution, Actor, ActorConfig, Metric, PolicyDistribution, TrunkConfig},
    optim::{OptimizerConfig, TrainState},
    state_dict::StateDict,
};
use serde::{Deserialize, Serialize};

/// How a policy is extracted from a distance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Extraction {
    /// The policy's action minimizes the distance to the goal, regularized by behavior cloning:
    /// `mean d((s, a_pi), g) / mean |d| - bc_weight log pi(a|s, g)`.
    ///
    /// Fujimoto and Gu (2021), with a distance instead of a negative value.
    DdpgBc {
        /// The weight of behavior cloning.
        #[serde(default = "default_bc_weight")]
        bc_weight: f32,
    },
    /// Advantage-weighted regression: actions of the data are cloned with weights that grow with
    /// their advantage, `- mean min(e^(alpha A), max_weight) log pi(a|s, g)` with `A = d(s, g) -
    /// d((s, a), g)`, in steps.
    ///
    /// Peng et al. (2019).
    Awr {
        /// The inverse temperature of the weights.
        #[serde(default = "default_alpha")]
        alpha: f32,
        /// The maximum weight of an action.
        #[serde(default = "default_max_weight")]
        max_weight: f32,
    },
}

fn default_bc_weight() -> f32 {
    0.1
}

fn default_alpha() -> f32 {
    3.0
}

fn default_max_weight() -> f32 {
    100.0
}

impl Default for Extraction {
    fn default() -> Self {
        Self::DdpgBc { bc_weight: default_bc_weight() }
    }
}

impl Extraction {
    /// Checks that all settings are in range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (field, value, is_valid) = match *self {
            Self::DdpgBc { bc_weight } => ("bc_weight", bc_weight, bc_weight.is_finite() && bc_weight >= 0.0),
            Self::Awr { alpha, max_weight } if max_weight > 0.0 => {
                ("alpha", alpha, alpha.is_finite() && alpha >= 0.0)
            }
            Self::Awr { max_weight, .. } => ("max_weight", max_weight, false),
        };
        if is_valid {
            return Ok(());
        }
        let hint = "typical values are bc_weight = 0.1, alpha = 3 and max_weight = 100";
        Err(ConfigError::new(field, value, "is out of range", hint).inside("extraction"))
    }
}

/// The network of a policy and its training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PolicyConfig {
    /// The hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
    /// The distribution of actions.
    pub distribution: PolicyDistribution,
    /// The optimizer settings.
    pub optimizer: OptimizerConfig,
    /// The goal distribution of policy training.
    pub goals: GoalDistributionConfig,
    /// What the network sees of a goal.
    #[serde(default)]
    pub goal_input: GoalInput,
}

impl PolicyConfig {
    /// Returns the policy of a preset, with goals uniform over later states of the same episode.
    pub fn preset(preset: Preset) -> Self {
        let mixture = GoalMixture { geometric: 0.0, uniform: 1.0, ..GoalMixture::default() };
        Self {
            trunk: preset.trunk(),
            distribution: PolicyDistribution::FixedStd { std: 1.0 },
            optimizer: OptimizerConfig::default(),
            goals: GoalDistributionConfig {
                mixture,
                min_offset: MinOffset::One,
                ..GoalDistributionConfig::default()
            },
            goal_input: GoalInput::default(),
        }
    }
}

/// A policy in training.
pub struct Policy {
    /// The network and its optimizer.
    actor: TrainState<Actor>,
    /// The inputs of the network, if they are not goals.
    displacement: Option<Displacement>,
    processes: Processes,
}

impl Policy {
    /// The random stream of its parameters.
    const STREAM: u32 = 100;

    /// Creates a policy before its first update; `None` if the dataset has no actions.
    pub fn new(config: &PolicyConfig, context: &LearnerContext) -> Result<Option<Self>, ConfigError> {
        if !context.has_actions() {
            return Ok(None);
        }
        let PolicyConfig { trunk, distribution, optimizer, goal_input, .. } = *config;
        let inputs = context.observation_width + context.goal.len();
        let actor = ActorConfig { inputs, actions: context.action_width, trunk, distribution };
        let actor =
            actor.init(&mut context.initializer(Self::STREAM)).map_err(|error| error.inside("policy"))?;
        let actor = context.train_state(actor, optimizer);
        let actor = actor.map_err(|error| error.inside("policy.optimizer"))?;
        let displacement = (goal_input == GoalInput::Displacement).then(|| Displacement::new(context));
        Ok(Some(Self { actor, displacement, processes: context.processes.clone() }))
    }

    /// Returns the network of states and goals, without gradients.
    pub fn frozen(&self) -> Actor {
        let actor = self.actor.frozen();
        match &self.displacement {
            Some(displacement) => displacement.folded_into(actor),
            None => actor,
        }
    }

    /// Returns the distributions of actions at the rows of a batch.
    fn actions(&mut self, batch: &DeviceBatch, goals: &DeviceGoals) -> ActionDistribution {
        let (states, goals) = (batch.observations.clone(), goals.policy_goals.clone());
        let goals = match &mut self.displacement {
            Some(displacement) => displacement.of(states.clone(), goals),
            None => goals,
        };
        self.actor.network().forward(states, goals)
    }

    /// Does one step of extraction. All distances are in steps, so that the same `alpha` suits
    /// every critic.
    ///
    /// `distance` returns `d((s_i, a_i), g_i)` for actions `[n, action width]` of the batch's rows,
    /// `expected` returns `d(s_i, g_i)`.
    pub fn extract(
        &mut self,
        extraction: Extraction,
        batch: &DeviceBatch,
        goals: &DeviceGoals,
        distance: impl Fn(Tensor<2>) -> Tensor<1>,
        expected: impl FnOnce() -> Tensor<1>,
    ) -> Loss {
        let actions = self.actions(batch, goals);
        let log_probs = actions.log_prob(batch.actions.clone());
        let loss = match extraction {
            // At the mode, which the policy uses when it acts.
            Extraction::DdpgBc { bc_weight } => {
                ddpg_bc(distance(actions.mode()), log_probs, bc_weight, self.processes.all())
            }
            Extraction::Awr { alpha, max_weight } => {
                let advantages = expected().detach() - distance(batch.actions.clone()).detach();
                awr(log_probs, advantages, alpha, max_weight)
            }
        };
        self.actor.step(loss.value.clone());
        loss
    }

    /// Does one step of extraction from a critic of [`CriticInput`] rows; `nats` returns the
    /// distances from rows `[n, width]` to the goals.
    pub fn extract_from_rows(
        &mut self,
        extraction: Extraction,
        batch: &DeviceBatch,
        goals: &DeviceGoals,
        (input, discount): (CriticInput, Discount),
        nats: impl Fn(Tensor<2>) -> Tensor<1>,
    ) -> Loss {
        let states = &batch.observations;
        let in_steps = |rows: Tensor<2>| nats(rows) / discount.nats_per_step();
        let of_action = |actions: Tensor<2>| in_steps(input.state_actions(states.clone(), actions));
        let of_state = || in_steps(input.states(states.clone()));
        self.extract(extraction, batch, goals, of_action, of_state)
    }

    /// Does one step of extraction from a quasimetric between [`CriticInput`] rows, in nats, for
    /// the second goals of a batch.
    pub fn extract_from_metric(
        &mut self,
        extraction: Extraction,
        batch: &DeviceBatch,
        (input, discount): (CriticInput, Discount),
        metric: &Metric,
    ) -> Loss {
        let goals = &batch.goals[1];
        let to = input.states(goals.observations.clone());
        let nats = |rows: Tensor<2>| metric.rowwise(rows, to.clone());
        self.extract_from_rows(extraction, batch, goals, (input, discount), nats)
    }

    /// Does one step of behavior cloning, with the loss `- mean log pi(a|s, g)`.
    pub fn clone_behavior(&mut self, batch: &DeviceBatch, goals: &DeviceGoals) -> Loss {
        let actions = self.actions(batch, goals);
        let log_probs = actions.log_prob(batch.actions.clone());
        let advantages = log_probs.zeros_like();
        let loss = awr(log_probs, advantages, 1.0, 1.0);
        self.actor.step(loss.value.clone());
        loss
    }

    /// Saves or loads the policy; see [`Learner::visit_state`](crate::Learner::visit_state).
    pub fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        if let Some(displacement) = &mut self.displacement {
            displacement.visit_state("displacement.factor", state)?;
        }
        self.actor.visit_state("actor", state)
    }
}
