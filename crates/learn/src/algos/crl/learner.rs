use super::{CrlConfig, CrlLoss};
use crate::{
    batch::DeviceBatch,
    distances::ContrastDistance,
    learner::{Learner, Metrics, TensorDistance},
    ledger::Ledger,
    parts::{ContrastiveCritic, Policy, Rows, Trained},
    setting::Setting,
};
use burn::tensor::Tensor;
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{
    error::ConfigError,
    loss::{ContrastiveOptions, Loss, binary_nce, infonce},
    module::{Actor, PairHead, PairHeadConfig},
};

/// Contrastive reinforcement learning: how likely a state follows, without a metric.
///
/// `f(x, g) = phi(x) . psi(g) / sqrt(D)`, by binary cross-entropy over all pairs of a batch (NCE) or by softmax (CPC). At the optimum
/// `f = log p(g|x) - log p(g) + const`; the policy climbs `f`, and `f(g, g) - f(s, g)` is the distance that is compared with others.
///
/// Eysenbach, Zhang, Levine, Salakhutdinov, "Contrastive Learning as Goal-Conditioned Reinforcement Learning" (2022). Offsets, goals and rows
/// are those of [`Cmd1`](crate::algos::Cmd1), so that the comparison is of the critics alone.
pub struct Crl {
    config: CrlConfig,
    setting: Setting,
    rows: Rows,
    critic: Trained<ContrastiveCritic>,
    head: PairHead,
    policy: Option<Policy>,
}

impl Crl {
    /// At its start.
    ///
    /// # Errors
    /// If a setting is impossible.
    pub fn new(config: CrlConfig, setting: &Setting) -> Result<Self, ConfigError> {
        config.check()?;
        let rows = Rows::new(setting);
        let critic = config.critic.init(rows, setting.observation_width, &mut setting.initialiser(0));
        let critic = critic.map_err(|error| error.inside("critic"))?;
        let critic = Trained::new(critic, config.critic_optimiser, setting.steps)
            .map_err(|error| error.inside("critic_optimiser"))?;
        let head = PairHeadConfig::InnerProduct.init(config.critic.embedding, &mut setting.initialiser(1))?;
        let policy = Policy::new(&config.policy, setting)?;
        Ok(Self { config, setting: setting.clone(), rows, critic, head, policy })
    }

    /// The contrastive loss of every pair of encoders, added.
    fn contrast(&self, batch: &DeviceBatch) -> Loss {
        let from = self.rows.of_batch(batch, &self.setting, self.config.states_alone);
        let losses = self.critic.network().members.iter().map(|member| {
            let x = member.phi.forward(from.clone());
            let y = member.psi.forward(batch.goals[0].observations.clone());
            let scale = 1.0 / (self.config.critic.embedding as f32).sqrt();
            let options = ContrastiveOptions { scale, potential: None };
            match self.config.loss {
                CrlLoss::Nce => binary_nce(&self.head, x, y, options),
                CrlLoss::Cpc(settings) => infonce(settings, &self.head, x, y, options),
            }
        });
        Loss::sum(losses).expect("there is at least one member")
    }
}

/// Minus the smallest `f` of all members: far is unlikely.
fn unlikeliness(critic: &ContrastiveCritic, rows: &Tensor<2>, goals: &Tensor<2>) -> Tensor<1> {
    let all = critic.members.iter().map(|member| member.rowwise(rows.clone(), goals.clone()));
    all.reduce(Tensor::min_pair).expect("there is at least one member").neg()
}

impl Learner for Crl {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![self.config.critic_goals, self.config.policy.goals]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let contrast = self.contrast(batch);
        metrics.add("critic", &contrast);
        self.critic.descend(contrast.value);

        if let Some(policy) = &mut self.policy {
            let (critic, goals) = (self.critic.frozen(), &batch.goals[1]);
            let nats = |rows: Tensor<2>| unlikeliness(&critic, &rows, &goals.observations);
            let shown = (self.rows, self.setting.discount);
            let loss = policy.extract_from_rows(self.config.extraction, batch, goals, shown, nats);
            metrics.add("actor", &loss);
        }
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        Some(Box::new(ContrastDistance { members: self.critic.frozen().members, rows: self.rows }))
    }

    fn policy(&self) -> Option<Actor> {
        self.policy.as_ref().map(Policy::frozen)
    }

    fn exchange(&mut self, ledger: &mut Ledger) -> Result<(), String> {
        ledger.trained("critic", &mut self.critic)?;
        self.policy.as_mut().map_or(Ok(()), |policy| policy.exchange(ledger))
    }
}
