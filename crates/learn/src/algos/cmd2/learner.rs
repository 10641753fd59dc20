use super::Cmd2Config;
use crate::{
    batch::DeviceBatch,
    distances::MetricDistance,
    learner::{Learner, Metrics, TensorDistance},
    ledger::Ledger,
    parts::{ContrastiveCritic, Policy, Rows, Trained},
    setting::Setting,
};
use burn::{
    module::{Module, Param},
    tensor::Tensor,
};
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{
    error::ConfigError,
    loss::{Dual, Loss, contrastive_targets, distil, infonce_of_logits},
    module::{Actor, Metric},
};

/// Contrastive metric distillation in two steps: a contrastive critic, then a quasimetric that explains it.
///
/// First, `f(x, g) = tau phi(x) . psi(g)` with points on the unit sphere and a learned `tau`, by symmetric InfoNCE. It implies the distances
/// `T(x, g) = f(g, g) - f(x, g) = tau (phi(g) - phi(x)) . psi(g)`. Second, a quasimetric `d` is raised to them,
///
/// `minimise mean_ij max(0, T_ij - d_ij)^2   subject to   mean_i max(0, d_ii - T_ii)^2 <= margin`
///
/// by dual ascent on the multiplier of the constraint ([`distil`]). `T` is detached.
///
/// Myers et al. (2024), as [`Cmd1`](crate::algos::Cmd1). We depart from published code as there; `phi(g)` is that of the state alone, so that
/// `T(x, g) = log p(g|g) / p(g|x)` of the behaviour.
pub struct Cmd2 {
    config: Cmd2Config,
    setting: Setting,
    rows: Rows,
    contrast: Trained<Contrast>,
    metric: Trained<Metric>,
    dual: Dual,
    policy: Option<Policy>,
}

#[derive(Module, Debug)]
struct Contrast {
    embeddings: ContrastiveCritic,
    log_temperature: Param<Tensor<1>>,
}

impl Cmd2 {
    /// At its start.
    ///
    /// # Errors
    /// If a setting is impossible.
    pub fn new(config: Cmd2Config, setting: &Setting) -> Result<Self, ConfigError> {
        config.check()?;
        let rows = Rows::new(setting);
        let embeddings = config.contrast.init(rows, setting.observation_width, &mut setting.initialiser(0));
        let log_temperature = setting.initialiser(1).scalar(config.initial_temperature.ln() as f32);
        let contrast =
            Contrast { embeddings: embeddings.map_err(|error| error.inside("contrast"))?, log_temperature };
        let contrast = Trained::new(contrast, config.contrast_optimiser, setting.steps)
            .map_err(|error| error.inside("contrast_optimiser"))?;
        let metric = config.critic.init(rows.width(), &mut setting.initialiser(2));
        let metric = metric.map_err(|error| error.inside("critic"))?;
        let metric = Trained::new(metric, config.critic_optimiser, setting.steps)
            .map_err(|error| error.inside("critic_optimiser"))?;
        let policy = Policy::new(&config.policy, setting)?;
        let dual = Dual::new(config.constraint);
        Ok(Self { config, setting: setting.clone(), rows, contrast, metric, dual, policy })
    }

    /// The contrastive loss, and the distances `T: [n, n]` that the critic implies.
    fn contrast(&self, from: &Tensor<2>, goals: &Tensor<2>) -> (Loss, Tensor<2>) {
        let Contrast { embeddings, log_temperature } = self.contrast.network();
        let [n, _] = from.dims();
        let members = embeddings.members.iter().map(|member| {
            let temperature = log_temperature.val().exp().reshape([1, 1]);
            let rows = Tensor::cat(vec![from.clone(), self.rows.states(goals.clone())], 0);
            let phi = on_sphere(member.phi.forward(rows)) * temperature;
            let (phi_states, phi_goals) = (phi.clone().narrow(0, 0, n), phi.narrow(0, n, n));
            let psi = on_sphere(member.psi.forward(goals.clone()));
            let loss =
                infonce_of_logits(self.config.infonce, phi_states.clone().matmul(psi.clone().transpose()));
            (loss, contrastive_targets(phi_states, phi_goals, psi).detach())
        });
        let both = members.reduce(|(loss, targets), (next, next_targets)| {
            let loss = Loss { value: loss.value + next.value, diagnostics: next.diagnostics };
            (loss, targets.max_pair(next_targets))
        });
        both.expect("there is at least one member")
    }

    /// The distillation loss of every member of the metric, added.
    fn distil(&self, from: &Tensor<2>, goals: &Tensor<2>, targets: &Tensor<2>) -> Loss {
        let losses = self.metric.network().members().iter().map(|member| {
            let (x, y) = member.encode(from.clone(), self.rows.states(goals.clone()));
            let distances = member.head.all_pairs(x, y);
            distil(distances, targets.clone(), self.dual.lambda(), self.config.hinge)
        });
        Loss::sum(losses).expect("there is at least one member")
    }
}

/// Rows of length 1.
fn on_sphere(rows: Tensor<2>) -> Tensor<2> {
    // Under the root: the gradient of a root is infinite at a row of zeros.
    let length = (rows.clone().square().sum_dim(1) + 1e-12).sqrt();
    rows / length
}

impl Learner for Cmd2 {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![self.config.critic_goals, self.config.policy.goals]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let from = self.rows.of_batch(batch, &self.setting, self.config.states_alone);
        let goals = &batch.goals[0].observations;

        let (contrast, targets) = self.contrast(&from, goals);
        metrics.add("contrast", &contrast);
        self.contrast.descend(contrast.value);

        let distilled = self.distil(&from, goals, &targets);
        metrics.add("critic", &distilled);
        metrics.put("critic", "lambda", self.dual.lambda());
        self.dual.update(metrics.get("critic/violation").expect("the loss reports it"));
        self.metric.descend(distilled.value);

        if let Some(policy) = &mut self.policy {
            let (metric, goals) = (self.metric.frozen(), &batch.goals[1]);
            let to = self.rows.states(goals.observations.clone());
            let nats = |rows: Tensor<2>| metric.rowwise(rows, to.clone());
            let shown = (self.rows, self.setting.discount);
            let loss = policy.extract_from_rows(self.config.extraction, batch, goals, shown, nats);
            metrics.add("actor", &loss);
        }
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        Some(Box::new(MetricDistance { metric: self.metric.frozen(), rows: self.rows }))
    }

    fn policy(&self) -> Option<Actor> {
        self.policy.as_ref().map(Policy::frozen)
    }

    fn exchange(&mut self, ledger: &mut Ledger) -> Result<(), String> {
        ledger.trained("contrast", &mut self.contrast)?;
        ledger.trained("critic", &mut self.metric)?;
        ledger.dual("lambda", &mut self.dual)?;
        self.policy.as_mut().map_or(Ok(()), |policy| policy.exchange(ledger))
    }
}
