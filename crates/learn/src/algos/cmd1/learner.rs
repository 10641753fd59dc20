use super::Cmd1Config;
use crate::{
    batch::DeviceBatch,
    distances::MetricDistance,
    learner::{Learner, Metrics, TensorDistance},
    ledger::Ledger,
    parts::{Policy, Rows, Trained},
    setting::Setting,
};
use burn::{module::Module, tensor::Tensor};
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{
    error::ConfigError,
    loss::{ContrastiveOptions, Loss, infonce},
    module::{Actor, Metric, Potential},
};

/// Contrastive metric distillation in one step: a quasimetric `d` and a potential `c` as the critic of a contrastive loss.
///
/// With logits `f_ij = c(g_j) - d(x_i, g_j)`, where `x_i` is a state with its action or alone and `g_j` the future state of row `j`, descend
///
/// `- mean_i [ log softmax_j f_ij ]_(j = i) - mean_j [ log softmax_i f_ij ]_(i = j)`
///
/// At the optimum `f = log p(g|x) - log p(g) + const`, hence `d(x, g) = log p(g|g) / p(g|x)`: the successor distance of the behaviour, which the triangle
/// inequality pulls towards that of the best policy. `c` is thrown away.
///
/// Myers, Zheng, Dragan, Levine, Eysenbach, "Learning Temporal Distances: Contrastive Successor Features Can Provide a Metric Structure for
/// Decision-Making" (2024). We depart from published code in the law of offsets, which includes 0; in goals without actions; and in rows without
/// actions ([`Rows`]).
pub struct Cmd1 {
    config: Cmd1Config,
    setting: Setting,
    rows: Rows,
    critic: Trained<Critic>,
    policy: Option<Policy>,
}

#[derive(Module, Debug)]
struct Critic {
    metric: Metric,
    potential: Potential,
}

impl Cmd1 {
    /// At its start.
    ///
    /// # Errors
    /// If a setting is impossible.
    pub fn new(config: Cmd1Config, setting: &Setting) -> Result<Self, ConfigError> {
        config.check()?;
        let rows = Rows::new(setting);
        let inside = |error: ConfigError| error.inside("critic");
        let metric = config.critic.init(rows.width(), &mut setting.initialiser(0)).map_err(inside)?;
        let width = setting.observation_width;
        let potential =
            Potential::new(width, config.critic.trunk, &mut setting.initialiser(1)).map_err(inside)?;
        let critic = Trained::new(Critic { metric, potential }, config.critic_optimiser, setting.steps)
            .map_err(|error| error.inside("critic_optimiser"))?;
        let policy = Policy::new(&config.policy, setting)?;
        Ok(Self { config, setting: setting.clone(), rows, critic, policy })
    }

    /// The contrastive loss of every member of the metric, added.
    fn contrast(&self, batch: &DeviceBatch) -> Loss {
        let from = self.rows.of_batch(batch, &self.setting, self.config.states_alone);
        let goals = &batch.goals[0].observations;
        let to = self.rows.states(goals.clone());
        let Critic { metric, potential } = self.critic.network();
        let potential = potential.forward(goals.clone());
        let losses = metric.members().iter().map(|member| {
            let (x, y) = member.encode(from.clone(), to.clone());
            let options = ContrastiveOptions { potential: Some(potential.clone()), ..Default::default() };
            infonce(self.config.contrast, &member.head, x, y, options)
        });
        Loss::sum(losses).expect("there is at least one member")
    }
}

impl Learner for Cmd1 {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![self.config.critic_goals, self.config.policy.goals]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let contrast = self.contrast(batch);
        metrics.add("critic", &contrast);
        self.critic.descend(contrast.value);

        if let Some(policy) = &mut self.policy {
            let (metric, goals) = (self.critic.frozen().metric, &batch.goals[1]);
            let to = self.rows.states(goals.observations.clone());
            let nats = |rows: Tensor<2>| metric.rowwise(rows, to.clone());
            let shown = (self.rows, self.setting.discount);
            let loss = policy.extract_from_rows(self.config.extraction, batch, goals, shown, nats);
            metrics.add("actor", &loss);
        }
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        Some(Box::new(MetricDistance { metric: self.critic.frozen().metric, rows: self.rows }))
    }

    fn policy(&self) -> Option<Actor> {
        self.policy.as_ref().map(Policy::frozen)
    }

    fn exchange(&mut self, ledger: &mut Ledger) -> Result<(), String> {
        ledger.trained("critic", &mut self.critic)?;
        self.policy.as_mut().map_or(Ok(()), |policy| policy.exchange(ledger))
    }
}
