//! Deep deterministic policy gradients with hindsight goals.

use super::prelude::*;

/// Settings of [`Ddpg`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DdpgConfig {
    /// The value networks of states with actions.
    pub critic: ValueConfig,
    /// The optimizer of the value networks.
    pub critic_optimizer: OptimizerConfig,
    /// The goals of the value networks.
    pub critic_goals: GoalDistributionConfig,
    /// The rate of the Polyak updates of target networks.
    pub tau: f32,
    /// The weight of behavior cloning.
    pub bc_weight: f32,
    /// The weight of the continuity hinge; 0 for none.
    #[serde(default)]
    pub continuity_weight: f64,
    /// The policy.
    pub policy: PolicyConfig,
}

/// Deep deterministic policy gradients with hindsight goals, regularized by behavior cloning.
///
/// With a reward of -1 for every step until the goal, `Q(s, a, g)` is regressed to `-1 + gamma min
/// Q_target(s', pi_target(s', g), g)` and to 0 at the goal; the policy maximizes `Q` of its action
/// and clones the actions of the data. Targets are clamped to the range of possible values, `[-1 /
/// (1 - gamma), 0]`.
///
/// Lillicrap et al. (2016); Andrychowicz et al., "Hindsight Experience Replay" (2017); twin critics
/// and behavior cloning as in Fujimoto and Gu (2021).
pub struct Ddpg {
    config: DdpgConfig,
    context: LearnerContext,
    critic: TrainState<Values>,
    target: Values,
    policy: Policy,
    /// The average of the policy as a network of states and goals. Displacements have no units
    /// before the first update, so that it starts without sight of the goal.
    target_actor: Actor,
}

impl AlgorithmDef for Ddpg {
    type Config = DdpgConfig;

    const NAME: &'static str = "ddpg";
    const IDEA: &'static str = "Deep deterministic policy gradients with hindsight goals";
    const PAPER: &'static str = "https://arxiv.org/abs/1707.01495";
    const NEEDS_ACTIONS: bool = true;

    fn preset(preset: Preset) -> DdpgConfig {
        DdpgConfig {
            critic: ValueConfig::preset(preset),
            critic_optimizer: OptimizerConfig::default(),
            critic_goals: hindsight_goals(),
            tau: 0.005,
            bc_weight: 0.1,
            continuity_weight: 0.0,
            policy: PolicyConfig::preset(preset),
        }
    }

    fn new(config: DdpgConfig, context: &LearnerContext) -> Result<Self, ConfigError> {
        fraction("tau", f64::from(config.tau))?;
        Continuity::check(config.continuity_weight)?;
        if !(config.bc_weight.is_finite() && config.bc_weight >= 0.0) {
            let hint = "0.1 is typical, 0 disables cloning";
            return Err(ConfigError::new("bc_weight", config.bc_weight, "is out of range", hint));
        }
        let critic = config.critic.init(context, true, 2, &mut context.initializer(0));
        let critic = critic.map_err(|error| error.inside("critic"))?;
        let target = critic.clone().no_grad();
        let critic = context
            .train_state(critic, config.critic_optimizer)
            .map_err(|error| error.inside("critic_optimizer"))?;
        let policy = Policy::new(&config.policy, context)?.expect("there are actions");
        let target_actor = policy.frozen();
        Ok(Self { config, context: context.clone(), critic, target, policy, target_actor })
    }
}

impl Learner for Ddpg {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![self.config.critic_goals, self.config.policy.goals]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let (s, a, next) = (&batch.observations, &batch.actions, &batch.next_observations);
        let discount = self.context.discount;
        let goals = &batch.goals[0];
        let g = &goals.observations;

        let next_actions = self.target_actor.forward(next.clone(), goals.policy_goals.clone()).mode();
        let next_values = self.target.min(vec![next.clone(), next_actions, g.clone()]);
        // The range of possible values.
        let next_values = next_values.clamp(-1.0 / (1.0 - discount.gamma()), 0.0);
        let target = value_of_reward(next_values, goals.at_goal.clone(), discount);
        let members = self.critic.network().all(vec![s.clone(), a.clone(), g.clone()]);
        let losses = members.into_iter().map(|values| expectile(values, target.clone(), 0.5));
        let critic_loss = Loss::sum(losses).expect("there are two");
        metrics.add("critic", &critic_loss);
        // A step changes a value by at most 1.
        let continuity = Continuity { weight: self.config.continuity_weight, step: 1.0 };
        let loss = continuity.add_to(critic_loss.value, batch, &mut metrics, |states, goals| {
            let policy_goals = goals.clone().narrow(1, self.context.goal.start, self.context.goal.len());
            let actions = self.target_actor.forward(states.clone(), policy_goals).mode();
            self.critic.network().min(vec![states, actions, goals])
        });
        self.critic.step(loss);
        self.target = polyak_update(self.target.clone(), self.critic.network(), self.config.tau);

        let critic = self.critic.frozen();
        let goals = &batch.goals[1];
        let g = &goals.observations;
        let of_action = |actions: Tensor<2>| critic.min(vec![s.clone(), actions, g.clone()]).neg();
        let extraction = Extraction::DdpgBc { bc_weight: self.config.bc_weight };
        let never = |_| unreachable!("only advantage-weighted regression needs it");
        let loss = self.policy.extract(extraction, batch, goals, of_action, never);
        metrics.add("actor", &loss);
        self.target_actor = polyak_update(self.target_actor.clone(), &self.policy.frozen(), self.config.tau);
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        let actor = Some((self.policy.frozen(), self.context.goal.clone()));
        Some(Box::new(ValueDistance { values: self.critic.frozen(), actor, discount: self.context.discount }))
    }

    fn policy(&self) -> Option<Actor> {
        Some(self.policy.frozen())
    }

    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.critic.visit_state("critic", state)?;
        state.target("target", &mut self.target)?;
        self.policy.visit_state(state)?;
        state.target("target_actor", &mut self.target_actor)
    }
}
