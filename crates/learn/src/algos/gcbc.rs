//! Goal-conditioned behavior cloning.

use super::prelude::*;

/// Settings of [`Gcbc`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GcbcConfig {
    /// The policy.
    pub policy: PolicyConfig,
}

/// Goal-conditioned behavior cloning of the actions that led to a later state, with the loss
/// `- mean log pi(a|s, g)`.
///
/// Ghosh et al., "Learning to Reach Goals via Iterated Supervised Learning" (2021). It learns no
/// distance.
pub struct Gcbc {
    config: GcbcConfig,
    policy: Policy,
}

impl AlgorithmDef for Gcbc {
    type Config = GcbcConfig;

    const NAME: &'static str = "gcbc";
    const IDEA: &'static str = "Goal-conditioned behavior cloning; learns no distance";
    const PAPER: &'static str = "https://arxiv.org/abs/1912.06088";
    const NEEDS_ACTIONS: bool = true;

    fn preset(preset: Preset) -> GcbcConfig {
        GcbcConfig { policy: PolicyConfig::preset(preset) }
    }

    fn new(config: GcbcConfig, context: &LearnerContext) -> Result<Self, ConfigError> {
        let policy = Policy::new(&config.policy, context)?.expect("there are actions");
        Ok(Self { config, policy })
    }
}

impl Learner for Gcbc {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![self.config.policy.goals]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        metrics.add("actor", &self.policy.clone_behavior(batch, &batch.goals[0]));
        metrics
    }

    fn policy(&self) -> Option<Actor> {
        Some(self.policy.frozen())
    }

    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.policy.visit_state(state)
    }
}
