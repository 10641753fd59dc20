use super::DdpgConfig;
use crate::{
    algos::check,
    batch::DeviceBatch,
    distances::ValueDistance,
    learner::{Learner, Metrics, TensorDistance},
    ledger::Ledger,
    parts::{Extraction, Policy, Trained, Values, follow, value_of_reward},
    setting::Setting,
};
use burn::{module::Module, tensor::Tensor};
use isochrone_core::Discount;
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{
    error::ConfigError,
    loss::{Loss, expectile},
    module::Actor,
};

/// Deep deterministic policy gradients with hindsight goals, held to the data.
///
/// With a reward of -1 for every step until the goal, `Q(s, a, g)` is regressed to `-1 + gamma min Q_target(s', pi_target(s', g), g)` and to 0 at the goal; the policy
/// climbs `Q` of its own action and is held to the data's. Targets are kept within what a goal can be worth, `[-1 / (1 - gamma), 0]`.
///
/// Lillicrap et al. (2016); Andrychowicz et al., "Hindsight Experience Replay" (2017); twins and cloning as Fujimoto and Gu (2021).
pub struct Ddpg {
    config: DdpgConfig,
    setting: Setting,
    critic: Trained<Values>,
    target: Values,
    policy: Policy,
    target_actor: Actor,
}

impl Ddpg {
    /// At its start.
    ///
    /// # Errors
    /// If a setting is impossible, or the data have no actions.
    pub fn new(config: DdpgConfig, setting: &Setting) -> Result<Self, ConfigError> {
        config.check()?;
        check::needs_actions("ddpg", setting)?;
        let critic = config.critic.init(setting, true, 2, &mut setting.initialiser(0));
        let critic = critic.map_err(|error| error.inside("critic"))?;
        let target = critic.clone().no_grad();
        let critic = Trained::new(critic, config.critic_optimiser, setting.steps)
            .map_err(|error| error.inside("critic_optimiser"))?;
        let policy = Policy::new(&config.policy, setting)?.expect("there are actions");
        let target_actor = policy.frozen();
        Ok(Self { config, setting: setting.clone(), critic, target, policy, target_actor })
    }
}

/// What is left of a value after it was kept within what a goal can be worth.
fn possible(values: Tensor<1>, discount: Discount) -> Tensor<1> {
    values.clamp(-1.0 / (1.0 - discount.gamma()), 0.0)
}

impl Learner for Ddpg {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![self.config.critic_goals, self.config.policy.goals]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let (s, a, next) = (&batch.observations, &batch.actions, &batch.next_observations);
        let discount = self.setting.discount;
        let goals = &batch.goals[0];
        let g = &goals.observations;

        let next_actions = self.target_actor.forward(next.clone(), goals.for_policy.clone()).mode();
        let next_values = self.target.least(vec![next.clone(), next_actions, g.clone()]);
        let target = value_of_reward(possible(next_values, discount), goals.is_here.clone(), discount);
        let members = self.critic.network().all(vec![s.clone(), a.clone(), g.clone()]);
        let losses = members.into_iter().map(|values| expectile(values, target.clone(), 0.5));
        let critic_loss = Loss::sum(losses).expect("there are two");
        metrics.add("critic", &critic_loss);
        self.critic.descend(critic_loss.value);
        self.target = follow(self.target.clone(), self.critic.network(), self.config.target_rate);

        let critic = self.critic.frozen();
        let goals = &batch.goals[1];
        let g = &goals.observations;
        let of_action = |actions: Tensor<2>| critic.least(vec![s.clone(), actions, g.clone()]).neg();
        let extraction = Extraction::DistanceBc { cloning: self.config.cloning };
        let never = || unreachable!("only advantages ask for it");
        let loss = self.policy.extract(extraction, batch, goals, of_action, never);
        metrics.add("actor", &loss);
        self.target_actor = follow(self.target_actor.clone(), self.policy.actor(), self.config.target_rate);
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        let actor = Some((self.policy.frozen(), self.setting.goal.clone()));
        Some(Box::new(ValueDistance { values: self.critic.frozen(), actor, discount: self.setting.discount }))
    }

    fn policy(&self) -> Option<Actor> {
        Some(self.policy.frozen())
    }

    fn exchange(&mut self, ledger: &mut Ledger) -> Result<(), String> {
        ledger.trained("critic", &mut self.critic)?;
        ledger.follower("target", &mut self.target)?;
        self.policy.exchange(ledger)?;
        ledger.follower("target_actor", &mut self.target_actor)
    }
}
