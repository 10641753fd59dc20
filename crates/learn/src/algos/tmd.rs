//! Temporal metric distillation.

use super::prelude::*;
use isochrone_data::sampling::MinOffset;

/// Settings of [`Tmd`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TmdConfig {
    /// The quasimetric.
    pub critic: QuasimetricConfig,
    /// The optimizer of the quasimetric.
    pub critic_optimizer: OptimizerConfig,
    /// The contrastive loss: a softmax over states for each goal.
    pub contrast: InfoNce,
    /// The goals: geometric offsets, starting at 1.
    pub critic_goals: GoalDistributionConfig,
    /// The weight of the distances from states to their actions.
    pub invariance_weight: f64,
    /// The weight of the backup.
    pub backup_weight: f64,
    /// The loss of the backup.
    pub backup: BackupConfig,
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

/// Temporal metric distillation: a contrastive quasimetric that also satisfies the Bellman
/// equation.
///
/// A quasimetric `d` between states and states with actions minimizes the sum of
///
/// - `- mean_j [ log softmax_i -d((s_i, a_i), g_j) ]_(i = j)`: the contrastive loss, which gives
///   the distance of the behavior policy up to a term for each goal
/// - `mean d(s, (s, a))`: with 0, `d(s, g)` is at most the smallest `d((s, a), g)`
/// - `mean linex(d((s, a), g) - stop[d(s', g)] + ln gamma)`: one step from the action to the next
///   state, which fixes the unit and, with the triangle inequality, leads from the distance of the
///   behavior policy to that of the optimal one ([`linex_backup`])
///
/// Myers, Zheng, Eysenbach, Levine, "Offline Goal-conditioned Reinforcement Learning with
/// Quasimetric Representations" (2025). Unlike in published code, distances in the contrastive loss
/// are in nats, as those of the backup, and one encoder embeds states with and without actions
/// ([`CriticInput`]).
pub struct Tmd {
    config: TmdConfig,
    context: LearnerContext,
    input: CriticInput,
    metric: TrainState<Metric>,
    policy: Option<Policy>,
}

impl AlgorithmDef for Tmd {
    type Config = TmdConfig;

    const NAME: &'static str = "tmd";
    const IDEA: &'static str = "Temporal metric distillation: a contrastive quasimetric with backups";
    const PAPER: &'static str = "https://arxiv.org/abs/2509.20478";

    fn preset(preset: Preset) -> TmdConfig {
        TmdConfig {
            critic: QuasimetricConfig::preset(preset),
            critic_optimizer: OptimizerConfig::default(),
            contrast: InfoNce { direction: Direction::Backward, ..InfoNce::default() },
            critic_goals: GoalDistributionConfig { min_offset: MinOffset::One, ..Default::default() },
            invariance_weight: 1.0,
            backup_weight: 0.05,
            backup: BackupConfig::default(),
            state_only_fraction: 0.5,
            continuity_weight: 0.0,
            policy: PolicyConfig::preset(preset),
            extraction: Extraction::default(),
        }
    }

    fn new(config: TmdConfig, context: &LearnerContext) -> Result<Self, ConfigError> {
        positive("invariance_weight", config.invariance_weight)?;
        positive("backup_weight", config.backup_weight)?;
        backup("backup", &config.backup)?;
        fraction("state_only_fraction", config.state_only_fraction)?;
        Continuity::check(config.continuity_weight)?;
        config.extraction.check()?;
        let input = CriticInput::new(context);
        let metric = config.critic.train_state(config.critic_optimizer, input, context, 0)?;
        let policy = Policy::new(&config.policy, context)?;
        Ok(Self { config, context: context.clone(), input, metric, policy })
    }
}

impl Tmd {
    /// Returns the contrastive loss, the distances to actions and the backup, each summed over the
    /// members of the metric.
    fn losses(&self, batch: &DeviceBatch) -> [Loss; 3] {
        let (mut contrasts, mut invariances, mut backups) = (Vec::new(), Vec::new(), Vec::new());
        let processes = &self.context.processes;
        let log_gamma = -self.context.discount.nats_per_step();
        let one_step = Tensor::full([batch.rows(), 1], log_gamma, &self.context.device);
        let from = self.input.of_batch(batch, &self.context, self.config.state_only_fraction);
        let next = &batch.next_observations;
        for member in self.metric.network().members() {
            let rows = BackupRows::encode(member, self.input, batch, from.clone(), next.clone());
            let options = ContrastiveOptions { group: processes.negatives().cloned(), ..Default::default() };
            let (x, y) = (rows.actions.clone(), rows.goals.clone());
            contrasts.push(infonce(self.config.contrast, &member.head, x, y, options));
            invariances.push(Loss::new(rows.action_distances(&member.head).mean()));
            backups.push(rows.backup(&member.head, self.config.backup, one_step.clone(), processes));
        }
        [contrasts, invariances, backups].map(|losses| Loss::sum(losses).expect("there is a member"))
    }
}

impl Learner for Tmd {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        let goals = [self.config.critic_goals, self.config.policy.goals];
        goals.into_iter().chain(self.config.extraction.later_states()).collect()
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let [contrast, invariance, backup] = self.losses(batch);
        metrics.add("contrast", &contrast);
        metrics.add("invariance", &invariance);
        metrics.add("backup", &backup);
        let TmdConfig { invariance_weight, backup_weight, continuity_weight, .. } = self.config;
        let loss = contrast.value + invariance.value * invariance_weight + backup.value * backup_weight;
        let continuity = Continuity::in_nats(continuity_weight, self.context.discount);
        let metric = self.metric.network();
        let loss = continuity.add_to_metric(loss, batch, &mut metrics, metric, self.input);
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
        self.metric.visit_state("critic", state)?;
        self.policy.as_mut().map_or(Ok(()), |policy| policy.visit_state(state))
    }
}
