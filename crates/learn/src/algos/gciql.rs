//! Goal-conditioned implicit Q-learning.

use super::prelude::*;

/// Settings of [`Gciql`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GciqlConfig {
    /// The value networks of states, and of states with actions.
    pub critic: ValueConfig,
    /// The optimizer of both.
    pub critic_optimizer: OptimizerConfig,
    /// The goals of both.
    pub critic_goals: GoalDistributionConfig,
    /// The expectile of action values that defines the value of a state: 0.5 is the mean, values
    /// near 1 approach the best action of the data.
    pub expectile: f32,
    /// The rate of the Polyak updates of target networks.
    pub tau: f32,
    /// The weight of the continuity hinge; 0 for none.
    #[serde(default)]
    pub continuity_weight: f64,
    /// The policy.
    pub policy: PolicyConfig,
    /// How the policy is extracted from the values.
    pub extraction: Extraction,
}

/// Goal-conditioned implicit Q-learning: the value of the best actions of the data, without
/// querying other actions.
///
/// With a reward of -1 for every step until the goal:
///
/// - `V(s, g)`: the `expectile` of `min Q_target(s, a, g)` over actions of the data
/// - `Q(s, a, g)`: regressed to `-1 + gamma V(s', g)`, and 0 at the goal; twin critics; target
///   networks
///
/// `V = -(1 - E[gamma^H]) / (1 - gamma)`, so that a value is a distance
/// ([`nats_of_value`]); where transitions are random, an expectile is optimistic.
///
/// Kostrikov, Nair, Levine, "Offline Reinforcement Learning with Implicit Q-Learning" (2022), with
/// goals as in OGBench.
pub struct Gciql {
    config: GciqlConfig,
    context: LearnerContext,
    value: TrainState<Values>,
    critic: TrainState<Values>,
    target: Values,
    policy: Policy,
}

impl AlgorithmDef for Gciql {
    type Config = GciqlConfig;

    const NAME: &'static str = "gciql";
    const IDEA: &'static str = "Goal-conditioned implicit Q-learning";
    const PAPER: &'static str = "https://arxiv.org/abs/2110.06169";
    const NEEDS_ACTIONS: bool = true;
    // Searched on pointmaze-medium-navigate: docs/results/two-levels-search.
    const ADVANTAGE_ALPHA: f64 = 10.0;

    fn preset(preset: Preset) -> GciqlConfig {
        GciqlConfig {
            critic: ValueConfig::preset(preset),
            critic_optimizer: OptimizerConfig::default(),
            critic_goals: hindsight_goals(),
            expectile: 0.9,
            tau: 0.005,
            continuity_weight: 0.0,
            policy: PolicyConfig::preset(preset),
            extraction: Extraction::default(),
        }
    }

    fn new(config: GciqlConfig, context: &LearnerContext) -> Result<Self, ConfigError> {
        fraction("expectile", f64::from(config.expectile))?;
        fraction("tau", f64::from(config.tau))?;
        Continuity::check(config.continuity_weight)?;
        config.extraction.check()?;
        let inside = |error: ConfigError| error.inside("critic");
        let train_state = |values| {
            context
                .train_state(values, config.critic_optimizer)
                .map_err(|error| error.inside("critic_optimizer"))
        };
        let value = config.critic.init(context, false, 1, &mut context.initializer(0)).map_err(inside)?;
        let critic = config.critic.init(context, true, 2, &mut context.initializer(1)).map_err(inside)?;
        let target = critic.clone().no_grad();
        let (value, critic) = (train_state(value)?, train_state(critic)?);
        let policy = Policy::new(&config.policy, context)?.expect("there are actions");
        Ok(Self { config, context: context.clone(), value, critic, target, policy })
    }
}

impl Learner for Gciql {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        let goals = [self.config.critic_goals, self.config.policy.goals];
        goals.into_iter().chain(self.config.extraction.later_states()).collect()
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let (s, a, next) = (&batch.observations, &batch.actions, &batch.next_observations);
        let goals = &batch.goals[0];
        let g = &goals.observations;

        let best_seen = self.target.min(vec![s.clone(), a.clone(), g.clone()]);
        // The value at the goal is 0 for every action.
        let best_seen = best_seen * (goals.at_goal.clone().neg() + 1.0);
        let value = self.value.network().min(vec![s.clone(), g.clone()]);
        let value_loss = expectile(value, best_seen, self.config.expectile);
        metrics.add("value", &value_loss);
        // A step changes a value by at most 1.
        let continuity = Continuity { weight: self.config.continuity_weight, step: 1.0 };
        let loss = continuity.add_to(value_loss.value, batch, &mut metrics, |states, goals| {
            self.value.network().min(vec![states, goals])
        });
        self.value.step(loss);

        let next_value = self.value.frozen().min(vec![next.clone(), g.clone()]);
        let target = value_of_reward(next_value, goals.at_goal.clone(), self.context.discount);
        let members = self.critic.network().all(vec![s.clone(), a.clone(), g.clone()]);
        let losses = members.into_iter().map(|values| expectile(values, target.clone(), 0.5));
        let critic_loss = Loss::sum(losses).expect("there are two");
        metrics.add("critic", &critic_loss);
        self.critic.step(critic_loss.value);
        self.target = polyak_update(self.target.clone(), self.critic.network(), self.config.tau);

        let (critic, value) = (self.critic.frozen(), self.value.frozen());
        let goals = &batch.goals[1];
        let g = &goals.observations;
        let of_action = |actions: Tensor<2>| critic.min(vec![s.clone(), actions, g.clone()]).neg();
        let of_states = |states: Tensor<2>| value.min(vec![states, g.clone()]).neg();
        let loss = self.policy.extract(self.config.extraction, batch, goals, of_action, of_states);
        metrics.add("actor", &loss);
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        let values = self.value.frozen();
        Some(Box::new(ValueDistance { values, actor: None, discount: self.context.discount }))
    }

    fn policy(&self) -> Option<Actor> {
        Some(self.policy.frozen())
    }

    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.value.visit_state("value", state)?;
        self.critic.visit_state("critic", state)?;
        state.target("target", &mut self.target)?;
        self.policy.visit_state(state)
    }
}
