use super::GciqlConfig;
use crate::{
    algos::check,
    batch::DeviceBatch,
    distances::ValueDistance,
    learner::{Learner, Metrics, TensorDistance},
    ledger::Ledger,
    parts::{Policy, Trained, Values, follow, value_of_reward},
    setting::Setting,
};
use burn::{module::Module, tensor::Tensor};
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{
    error::ConfigError,
    loss::{Loss, expectile},
    module::Actor,
};

/// Goal-conditioned implicit Q-learning: the value of the best actions that were seen, without asking for others.
///
/// With a reward of -1 for every step until the goal:
///
/// - `V(s, g)`: the `expectile` of `min Q_target(s, a, g)` over actions of the data
/// - `Q(s, a, g)`: regressed to `-1 + gamma V(s', g)`, and 0 at the goal; twins; targets follow slowly
///
/// `V = -(1 - E[gamma^H]) / (1 - gamma)`, so that a value is a distance ([`nats_of_value`](crate::parts::nats_of_value)); where chance plays a part an expectile takes luck for skill.
///
/// Kostrikov, Nair, Levine, "Offline Reinforcement Learning with Implicit Q-Learning" (2022), with goals as in OGBench.
pub struct Gciql {
    config: GciqlConfig,
    setting: Setting,
    value: Trained<Values>,
    critic: Trained<Values>,
    target: Values,
    policy: Policy,
}

impl Gciql {
    /// At its start.
    ///
    /// # Errors
    /// If a setting is impossible, or the data have no actions.
    pub fn new(config: GciqlConfig, setting: &Setting) -> Result<Self, ConfigError> {
        config.check()?;
        check::needs_actions("gciql", setting)?;
        let inside = |error: ConfigError| error.inside("critic");
        let trained = |values| {
            Trained::new(values, config.critic_optimiser, setting.steps)
                .map_err(|error| error.inside("critic_optimiser"))
        };
        let value = config.critic.init(setting, false, 1, &mut setting.initialiser(0)).map_err(inside)?;
        let critic = config.critic.init(setting, true, 2, &mut setting.initialiser(1)).map_err(inside)?;
        let target = critic.clone().no_grad();
        let (value, critic) = (trained(value)?, trained(critic)?);
        let policy = Policy::new(&config.policy, setting)?.expect("there are actions");
        Ok(Self { config, setting: setting.clone(), value, critic, target, policy })
    }
}

impl Learner for Gciql {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![self.config.critic_goals, self.config.policy.goals]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let (s, a, next) = (&batch.observations, &batch.actions, &batch.next_observations);
        let goals = &batch.goals[0];
        let g = &goals.observations;

        let best_seen = self.target.least(vec![s.clone(), a.clone(), g.clone()]);
        // At the goal there is nothing left to do, whatever was done there.
        let best_seen = best_seen * (goals.is_here.clone().neg() + 1.0);
        let value = self.value.network().least(vec![s.clone(), g.clone()]);
        let value_loss = expectile(value, best_seen, self.config.expectile);
        metrics.add("value", &value_loss);
        self.value.descend(value_loss.value);

        let next_value = self.value.frozen().least(vec![next.clone(), g.clone()]);
        let target = value_of_reward(next_value, goals.is_here.clone(), self.setting.discount);
        let members = self.critic.network().all(vec![s.clone(), a.clone(), g.clone()]);
        let losses = members.into_iter().map(|values| expectile(values, target.clone(), 0.5));
        let critic_loss = Loss::sum(losses).expect("there are two");
        metrics.add("critic", &critic_loss);
        self.critic.descend(critic_loss.value);
        self.target = follow(self.target.clone(), self.critic.network(), self.config.target_rate);

        let (critic, value) = (self.critic.frozen(), self.value.frozen());
        let goals = &batch.goals[1];
        let g = &goals.observations;
        let of_action = |actions: Tensor<2>| critic.least(vec![s.clone(), actions, g.clone()]).neg();
        let of_state = || value.least(vec![s.clone(), g.clone()]).neg();
        let loss = self.policy.extract(self.config.extraction, batch, goals, of_action, of_state);
        metrics.add("actor", &loss);
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        let values = self.value.frozen();
        Some(Box::new(ValueDistance { values, actor: None, discount: self.setting.discount }))
    }

    fn policy(&self) -> Option<Actor> {
        Some(self.policy.frozen())
    }

    fn exchange(&mut self, ledger: &mut Ledger) -> Result<(), String> {
        ledger.trained("value", &mut self.value)?;
        ledger.trained("critic", &mut self.critic)?;
        ledger.follower("target", &mut self.target)?;
        self.policy.exchange(ledger)
    }
}
