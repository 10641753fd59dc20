//! Contrastive metric distillation, in two steps.

use super::prelude::*;
use burn::module::Param;
use isochrone_nn::op::gather_rows;

/// Settings of [`Cmd2`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cmd2Config {
    /// The contrastive critic of the first step.
    pub contrast: ContrastiveConfig,
    /// The optimizer of the contrastive critic.
    pub contrast_optimizer: OptimizerConfig,
    /// The loss of the contrastive critic.
    pub infonce: InfoNce,
    /// The goals of the contrastive critic: geometric offsets, starting at 0.
    pub critic_goals: GoalDistributionConfig,
    /// The initial value of the learned temperature, the maximum product of two normalized
    /// embeddings.
    pub initial_temperature: f64,
    /// The quasimetric of the second step.
    pub critic: QuasimetricConfig,
    /// The optimizer of the quasimetric.
    pub critic_optimizer: OptimizerConfig,
    /// The constraint that matched pairs are not overestimated.
    pub constraint: DualConfig,
    /// The fraction of rows without their action, from which distances between states are learned.
    pub state_only_fraction: f64,
    /// The weight of the continuity hinge; 0 for none.
    #[serde(default)]
    pub continuity_weight: f64,
    /// The policy.
    pub policy: PolicyConfig,
    /// How the policy is extracted from the distance.
    pub extraction: Extraction,
}

/// Contrastive metric distillation in two steps: a contrastive critic, then a quasimetric that is
/// fitted to it.
///
/// First, `f(x, g) = tau phi(x) . psi(g)`, with embeddings on the unit sphere and a learned `tau`,
/// is trained by symmetric InfoNCE. It implies the distances `T(x, g) = f(g, g) - f(x, g) = tau
/// (phi(g) - phi(x)) . psi(g)`. Second, a quasimetric `d` is raised to them,
///
/// `minimize mean_ij max(0, T_ij - d_ij)^2   subject to   mean_i max(0, d_ii - T_ii)^2 <= margin`
///
/// by dual ascent on the multiplier of the constraint ([`distill`]). `T` is detached.
///
/// Myers et al. (2024), as [`Cmd1`](crate::algos::Cmd1), with the same differences from published
/// code. `phi(g)` is that of the state without an action, so that `T(x, g) = log p(g|g) / p(g|x)`
/// of the behavior policy.
pub struct Cmd2 {
    config: Cmd2Config,
    context: LearnerContext,
    input: CriticInput,
    contrast: TrainState<Contrast>,
    /// The form of its logits.
    product: PairHead,
    metric: TrainState<Metric>,
    dual: Dual,
    policy: Option<Policy>,
}

#[derive(Module, Debug)]
struct Contrast {
    embeddings: ContrastiveCritic,
    log_temperature: Param<Tensor<1>>,
}

impl AlgorithmDef for Cmd2 {
    type Config = Cmd2Config;

    const NAME: &'static str = "cmd2";
    const IDEA: &'static str =
        "Contrastive metric distillation in two steps: a contrastive critic, distilled";
    const PAPER: &'static str = "https://arxiv.org/abs/2406.17098";
    // Measured on demonstrations of a robot arm; other algorithms do not gain:
    // docs/results/episode-leak.
    const ROWS_PER_DEMONSTRATION: usize = 128;

    fn preset(preset: Preset) -> Cmd2Config {
        Cmd2Config {
            contrast: ContrastiveConfig::preset(preset),
            contrast_optimizer: OptimizerConfig::default(),
            infonce: InfoNce::default(),
            critic_goals: GoalDistributionConfig::default(),
            initial_temperature: 5.0,
            critic: QuasimetricConfig::preset(preset),
            critic_optimizer: OptimizerConfig::default(),
            constraint: DualConfig { learning_rate: 0.02, ..DualConfig::default() },
            state_only_fraction: 0.5,
            continuity_weight: 0.0,
            policy: PolicyConfig::preset(preset),
            extraction: Extraction::default(),
        }
    }

    fn new(config: Cmd2Config, context: &LearnerContext) -> Result<Self, ConfigError> {
        fraction("state_only_fraction", config.state_only_fraction)?;
        positive("initial_temperature", config.initial_temperature)?;
        dual("constraint", &config.constraint)?;
        Continuity::check(config.continuity_weight)?;
        config.extraction.check()?;
        let input = CriticInput::new(context);
        let embeddings = config.contrast.init(input, context.observation_width, &mut context.initializer(0));
        let log_temperature = context.initializer(1).scalar(config.initial_temperature.ln() as f32);
        let contrast =
            Contrast { embeddings: embeddings.map_err(|error| error.inside("contrast"))?, log_temperature };
        let contrast = context
            .train_state(contrast, config.contrast_optimizer)
            .map_err(|error| error.inside("contrast_optimizer"))?;
        let metric = config.critic.train_state(config.critic_optimizer, input, context, 2)?;
        let product =
            PairHeadConfig::InnerProduct.init(config.contrast.embedding, &mut context.initializer(3))?;
        let policy = Policy::new(&config.policy, context)?;
        let dual = Dual::new(config.constraint);
        Ok(Self { config, context: context.clone(), input, contrast, product, metric, dual, policy })
    }
}

impl Cmd2 {
    /// Returns the contrastive loss and the distances `T: [n, m]` that the critic implies, where
    /// the columns are the goals of all processes whose rows are negatives.
    fn contrast(&self, from: &Tensor<2>, goals: &Tensor<2>) -> (Loss, Tensor<2>) {
        let Contrast { embeddings, log_temperature } = self.contrast.network();
        let [n, _] = from.dims();
        let members = embeddings.members.iter().map(|member| {
            let temperature = log_temperature.val().exp().reshape([1, 1]);
            let rows = Tensor::cat(vec![from.clone(), self.input.states(goals.clone())], 0);
            let phi = on_sphere(member.phi.forward(rows)) * temperature;
            let (phi_states, phi_goals) = (phi.clone().narrow(0, 0, n), phi.narrow(0, n, n));
            let psi = on_sphere(member.psi.forward(goals.clone()));
            let Some(group) = self.context.processes.negatives() else {
                let logits = self.product.all_pairs(phi_states.clone(), psi.clone());
                let loss = infonce_of_logits(self.config.infonce, logits);
                return (loss, contrastive_targets(phi_states, phi_goals, psi).detach());
            };
            let options = ContrastiveOptions { group: Some(group.clone()), ..Default::default() };
            let loss = infonce(self.config.infonce, &self.product, phi_states.clone(), psi.clone(), options);
            let [phi_goals, psi] = [phi_goals, psi].map(|rows| gather_rows(group, rows.detach()));
            (loss, contrastive_targets(phi_states, phi_goals, psi).detach())
        });
        let both = members.reduce(|(loss, targets), (next, next_targets)| {
            let loss = Loss { value: loss.value + next.value, diagnostics: next.diagnostics };
            (loss, targets.max_pair(next_targets))
        });
        both.expect("there is at least one member")
    }

    /// Returns the sum of the distillation losses of all members of the metric.
    fn distill(&self, from: &Tensor<2>, goals: &Tensor<2>, targets: &Tensor<2>) -> Loss {
        let losses = self.metric.network().members().iter().map(|member| {
            let (x, y) = member.encode(from.clone(), self.input.states(goals.clone()));
            let (y, first_match) = match self.context.processes.negatives() {
                None => (y, 0),
                Some(group) => (gather_rows(group, y), group.rank() * x.dims()[0]),
            };
            distill(member.head.all_pairs(x, y), targets.clone(), first_match, self.dual.lambda())
        });
        Loss::sum(losses).expect("there is at least one member")
    }
}

/// Normalizes rows to length 1.
fn on_sphere(rows: Tensor<2>) -> Tensor<2> {
    // The constant keeps the gradient of the square root finite at a row of zeros.
    let length = (rows.clone().square().sum_dim(1) + 1e-12).sqrt();
    rows / length
}

impl Learner for Cmd2 {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        let goals = [self.config.critic_goals, self.config.policy.goals];
        goals.into_iter().chain(self.config.extraction.later_states()).collect()
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let from = self.input.of_batch(batch, &self.context, self.config.state_only_fraction);
        let goals = &batch.goals[0].observations;

        let (contrast, targets) = self.contrast(&from, goals);
        metrics.add("contrast", &contrast);
        self.contrast.step(contrast.value);

        let distilled = self.distill(&from, goals, &targets);
        metrics.add("critic", &distilled);
        metrics.put("critic", "lambda", self.dual.lambda());
        let violation = metrics.get("critic/violation").expect("the loss reports it");
        self.dual.update(self.context.processes.mean(violation));
        let continuity = Continuity::in_nats(self.config.continuity_weight, self.context.discount);
        let metric = self.metric.network();
        let loss = continuity.add_to_metric(distilled.value, batch, &mut metrics, metric, self.input);
        self.metric.step(loss);

        if let Some(policy) = &mut self.policy {
            let (metric, input) = (self.metric.frozen(), (self.input, self.context.discount));
            let loss = policy.extract_from_metric(self.config.extraction, batch, input, &metric);
            metrics.add("actor", &loss);
        }
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        Some(Box::new(MetricDistance { metric: self.metric.frozen(), input: self.input }))
    }

    fn policy(&self) -> Option<Actor> {
        self.policy.as_ref().map(Policy::frozen)
    }

    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.contrast.visit_state("contrast", state)?;
        self.metric.visit_state("critic", state)?;
        self.dual.visit_state("lambda", state)?;
        self.policy.as_mut().map_or(Ok(()), |policy| policy.visit_state(state))
    }
}
