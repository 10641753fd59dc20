//! Multistep quasimetric estimation.

use super::prelude::*;
use burn::tensor::{Int, TensorData};
use isochrone_data::sampling::MinOffset;

/// Settings of [`Mqe`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MqeConfig {
    /// The quasimetric.
    pub critic: QuasimetricConfig,
    /// The optimizer of the quasimetric.
    pub critic_optimizer: OptimizerConfig,
    /// The goals: geometric offsets, starting at 1.
    pub critic_goals: GoalDistributionConfig,
    /// The discount of the geometric offsets of waypoints.
    pub waypoint_discount: f64,
    /// The fraction of rows whose waypoint is the next state.
    pub next_state_fraction: f64,
    /// The loss of the backup.
    pub backup: BackupConfig,
    /// The weight of the invariance to actions.
    pub invariance_weight: f64,
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

/// Multistep quasimetric estimation: backups from waypoints at random offsets.
///
/// A quasimetric `d` between states and states with actions minimizes the sum of
///
/// - `mean linex(d((s_t, a_t), g) - stop[d(s_(t + k), g)] + k ln gamma)` over all pairs of rows and
///   goals ([`linex_backup`]). The waypoint is the next state, `k = 1`, for a fraction of the rows;
///   for the others, `k` is geometric, and the waypoint never lies beyond the goal of its own row
/// - `mean (e^(-d(s, (s, a))) - 1)^2`: with 0, `d(s, g)` is at most the smallest `d((s, a), g)`
///
/// Long offsets carry distances over many steps in one update; with the next state alone, errors
/// accumulate.
///
/// Zheng, Myers, Eysenbach, Levine, "Multistep Quasimetric Learning for Scalable Goal-conditioned
/// Reinforcement Learning" (2025). Unlike in published code, one encoder embeds states with and
/// without actions ([`CriticInput`]).
pub struct Mqe {
    config: MqeConfig,
    context: LearnerContext,
    input: CriticInput,
    metric: TrainState<Metric>,
    policy: Option<Policy>,
}

impl AlgorithmDef for Mqe {
    type Config = MqeConfig;

    const NAME: &'static str = "mqe";
    const IDEA: &'static str = "Multistep quasimetric estimation: backups from waypoints";
    const PAPER: &'static str = "https://arxiv.org/abs/2511.07730";
    // Searched on pointmaze-medium-navigate: docs/results/two-levels-search.
    const ADVANTAGE_ALPHA: f64 = 1.0;

    fn preset(preset: Preset) -> MqeConfig {
        MqeConfig {
            critic: QuasimetricConfig::preset(preset),
            critic_optimizer: OptimizerConfig::default(),
            critic_goals: GoalDistributionConfig { min_offset: MinOffset::One, ..Default::default() },
            waypoint_discount: 0.95,
            next_state_fraction: 0.2,
            backup: BackupConfig { threshold: 5.0, ..BackupConfig::default() },
            invariance_weight: 1.0,
            state_only_fraction: 0.5,
            continuity_weight: 0.0,
            policy: PolicyConfig::preset(preset),
            extraction: Extraction::default(),
        }
    }

    fn new(config: MqeConfig, context: &LearnerContext) -> Result<Self, ConfigError> {
        fraction("waypoint_discount", config.waypoint_discount)?;
        fraction("next_state_fraction", config.next_state_fraction)?;
        positive("invariance_weight", config.invariance_weight)?;
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

impl Mqe {
    /// The goal distributions: those of the critic, of the policy, and the waypoints.
    const WAYPOINTS: usize = 2;

    /// Returns the waypoints `[n, observation width]` and the logarithms `[n, 1]` of the discounts
    /// up to them.
    fn waypoints(&self, batch: &DeviceBatch) -> (Tensor<2>, Tensor<2>) {
        let (goals, sampled) = (&batch.goals[0], &batch.goals[Self::WAYPOINTS]);
        let n = batch.rows();
        let (mut chosen, mut log_discounts) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for (row, draw) in row_draws(RowChoice::Waypoint, batch, &self.context).into_iter().enumerate() {
            let (to_goal, to_sampled) = (goals.offsets[row], sampled.offsets[row]);
            // The index of the source among next states, sampled states and goals.
            let (source, offset) = match draw < self.config.next_state_fraction {
                true => (0, 1),
                false if (1..to_sampled).contains(&to_goal) => (2, to_goal),
                false => (1, to_sampled),
            };
            chosen.push((source * n + row) as i64);
            log_discounts.push(-self.context.discount.nats_per_step() as f32 * offset as f32);
        }
        let device = &self.context.device;
        let sources =
            vec![batch.next_observations.clone(), sampled.observations.clone(), goals.observations.clone()];
        let chosen: Tensor<1, Int> = Tensor::from_data(TensorData::new(chosen, [n]), device);
        let log_discounts = Tensor::from_data(TensorData::new(log_discounts, [n, 1]), device);
        (Tensor::cat(sources, 0).select(0, chosen), log_discounts)
    }

    /// Returns the loss of the backup and the invariance to actions, each summed over the members
    /// of the metric.
    fn losses(&self, batch: &DeviceBatch) -> [Loss; 2] {
        let (waypoints, log_discounts) = self.waypoints(batch);
        let from = self.input.of_batch(batch, &self.context, self.config.state_only_fraction);
        let (mut backups, mut invariances) = (Vec::new(), Vec::new());
        for member in self.metric.network().members() {
            let rows = BackupRows::encode(member, self.input, batch, from.clone(), waypoints.clone());
            let (config, processes) = (self.config.backup, &self.context.processes);
            backups.push(rows.backup(&member.head, config, log_discounts.clone(), processes));
            let similarity = rows.action_distances(&member.head).neg().exp();
            invariances.push(Loss::new((similarity - 1.0).square().mean()));
        }
        [backups, invariances].map(|losses| Loss::sum(losses).expect("there is a member"))
    }
}

impl Learner for Mqe {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        let waypoints = GoalDistributionConfig {
            min_offset: MinOffset::One,
            discount: Some(self.config.waypoint_discount),
            ..GoalDistributionConfig::default()
        };
        let goals = [self.config.critic_goals, self.config.policy.goals, waypoints];
        goals.into_iter().chain(self.config.extraction.later_states()).collect()
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let [backup, invariance] = self.losses(batch);
        metrics.add("critic", &backup);
        metrics.add("invariance", &invariance);
        let loss = backup.value + invariance.value * self.config.invariance_weight;
        let continuity = Continuity::in_nats(self.config.continuity_weight, self.context.discount);
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
