//! Contrastive metric distillation, in one step.

use super::prelude::*;

/// Settings of [`Cmd1`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cmd1Config {
    /// The quasimetric; the potential has the same hidden layers.
    pub critic: QuasimetricConfig,
    /// The optimizer of both.
    pub critic_optimizer: OptimizerConfig,
    /// The contrastive loss.
    pub contrast: InfoNce,
    /// The goals of the contrastive loss: geometric offsets, starting at 0.
    pub critic_goals: GoalDistributionConfig,
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

/// Contrastive metric distillation in one step: a quasimetric `d` and a potential `c` as the critic
/// of a contrastive loss.
///
/// With logits `f_ij = c(g_j) - d(x_i, g_j)`, where `x_i` is a state with or without its action and
/// `g_j` the future state of row `j`, it minimizes
///
/// `- mean_i [ log softmax_j f_ij ]_(j = i) - mean_j [ log softmax_i f_ij ]_(i = j)`
///
/// At the optimum `f = log p(g|x) - log p(g) + const`, hence `d(x, g) = log p(g|g) / p(g|x)`: the
/// successor distance of the behavior policy, which the triangle inequality pulls towards that of
/// the optimal policy. `c` is discarded.
///
/// Myers, Zheng, Dragan, Levine, Eysenbach, "Learning Temporal Distances: Contrastive Successor
/// Features Can Provide a Metric Structure for Decision-Making" (2024). The differences from
/// published code are the distribution of offsets, which includes 0, goals without actions, and
/// rows without actions ([`CriticInput`]).
pub struct Cmd1 {
    config: Cmd1Config,
    context: LearnerContext,
    input: CriticInput,
    critic: TrainState<Critic>,
    policy: Option<Policy>,
}

#[derive(Module, Debug)]
struct Critic {
    metric: Metric,
    potential: Potential,
}

impl AlgorithmDef for Cmd1 {
    type Config = Cmd1Config;

    const NAME: &'static str = "cmd1";
    const IDEA: &'static str =
        "Contrastive metric distillation in one step: a quasimetric as contrastive critic";
    const PAPER: &'static str = "https://arxiv.org/abs/2406.17098";
    // Measured on demonstrations of a robot arm; other algorithms do not gain:
    // docs/results/episode-leak.
    const ROWS_PER_DEMONSTRATION: usize = 128;

    fn preset(preset: Preset) -> Cmd1Config {
        Cmd1Config {
            critic: QuasimetricConfig::preset(preset),
            critic_optimizer: OptimizerConfig::default(),
            contrast: InfoNce::default(),
            critic_goals: GoalDistributionConfig::default(),
            state_only_fraction: 0.5,
            continuity_weight: 0.0,
            policy: PolicyConfig::preset(preset),
            extraction: Extraction::default(),
        }
    }

    fn new(config: Cmd1Config, context: &LearnerContext) -> Result<Self, ConfigError> {
        fraction("state_only_fraction", config.state_only_fraction)?;
        Continuity::check(config.continuity_weight)?;
        config.extraction.check()?;
        let input = CriticInput::new(context);
        let inside = |error: ConfigError| error.inside("critic");
        let metric = config.critic.init(input.width(), &mut context.initializer(0)).map_err(inside)?;
        let width = context.observation_width;
        let potential =
            Potential::new(width, config.critic.trunk, &mut context.initializer(1)).map_err(inside)?;
        let critic = context
            .train_state(Critic { metric, potential }, config.critic_optimizer)
            .map_err(|error| error.inside("critic_optimizer"))?;
        let policy = Policy::new(&config.policy, context)?;
        Ok(Self { config, context: context.clone(), input, critic, policy })
    }
}

impl Cmd1 {
    /// Returns the sum of the contrastive losses of all members of the metric.
    fn contrast(&self, batch: &DeviceBatch) -> Loss {
        let from = self.input.of_batch(batch, &self.context, self.config.state_only_fraction);
        let goals = &batch.goals[0].observations;
        let to = self.input.states(goals.clone());
        let Critic { metric, potential } = self.critic.network();
        let potential = potential.forward(goals.clone());
        let losses = metric.members().iter().map(|member| {
            let (x, y) = member.encode(from.clone(), to.clone());
            let group = self.context.processes.negatives().cloned();
            let options = ContrastiveOptions { scale: 1.0, potential: Some(potential.clone()), group };
            infonce(self.config.contrast, &member.head, x, y, options)
        });
        Loss::sum(losses).expect("there is at least one member")
    }
}

impl Learner for Cmd1 {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        let goals = [self.config.critic_goals, self.config.policy.goals];
        goals.into_iter().chain(self.config.extraction.later_states()).collect()
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let contrast = self.contrast(batch);
        metrics.add("critic", &contrast);
        let continuity = Continuity::in_nats(self.config.continuity_weight, self.context.discount);
        let metric = &self.critic.network().metric;
        let loss = continuity.add_to_metric(contrast.value, batch, &mut metrics, metric, self.input);
        self.critic.step(loss);

        if let Some(policy) = &mut self.policy {
            let (metric, input) = (self.critic.frozen().metric, (self.input, self.context.discount));
            let loss = policy.extract_from_metric(self.config.extraction, batch, input, &metric);
            metrics.add("actor", &loss);
        }
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        Some(Box::new(MetricDistance { metric: self.critic.frozen().metric, input: self.input }))
    }

    fn policy(&self) -> Option<Actor> {
        self.policy.as_ref().map(Policy::frozen)
    }

    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.critic.visit_state("critic", state)?;
        self.policy.as_mut().map_or(Ok(()), |policy| policy.visit_state(state))
    }
}
