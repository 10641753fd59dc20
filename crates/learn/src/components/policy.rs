//! Policies extracted from a distance or cloned from the data.

use super::{CriticInput, Extraction, GoalInput, Preset, displacement::Displacement};
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
    /// `from_actions` returns `d((s_i, a_i), g_i)` for actions `[n, action width]` of the batch's
    /// rows, `from_states` returns `d(s_i, g_i)` for any states `[n, observation width]`.
    pub fn extract(
        &mut self,
        extraction: Extraction,
        batch: &DeviceBatch,
        goals: &DeviceGoals,
        from_actions: impl Fn(Tensor<2>) -> Tensor<1>,
        from_states: impl Fn(Tensor<2>) -> Tensor<1>,
    ) -> Loss {
        let actions = self.actions(batch, goals);
        let log_probs = actions.log_prob(batch.actions.clone());
        let loss = match extraction {
            // At the mode, which the policy uses when it acts.
            Extraction::DdpgBc { bc_weight } => {
                ddpg_bc(from_actions(actions.mode()), log_probs, bc_weight, self.processes.all())
            }
            // Every weight is 1, whatever the distance.
            Extraction::Awr { alpha: 0.0, .. } => cloning(log_probs),
            Extraction::Awr { alpha, max_weight, advantage_steps } => {
                let after = match advantage_steps {
                    1 => from_actions(batch.actions.clone()),
                    _ => from_states(batch.later_states(goals)),
                };
                let advantages = from_states(batch.observations.clone()).detach() - after.detach();
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
        let of_states = |states: Tensor<2>| in_steps(input.states(states));
        self.extract(extraction, batch, goals, of_action, of_states)
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
        let loss = cloning(actions.log_prob(batch.actions.clone()));
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

/// Behavior cloning: `-mean log pi(a|s, g)`.
fn cloning(log_probs: Tensor<1>) -> Loss {
    let advantages = log_probs.zeros_like();
    awr(log_probs, advantages, 0.0, 1.0)
}
