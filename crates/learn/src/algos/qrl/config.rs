use crate::{
    algos::check,
    parts::{Extraction, MetricSizes, OptimiserConfig, Policy, PolicyConfig, Size},
};
use isochrone_data::sampling::{GoalDistributionConfig, GoalMixture};
use isochrone_nn::{error::ConfigError, loss::DualConfig};
use serde::{Deserialize, Serialize};

/// Settings of [`Qrl`](super::Qrl).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QrlConfig {
    /// The quasimetric, in steps; the latent dynamics have the same hidden layers.
    pub critic: MetricSizes,
    /// How both are moved.
    pub critic_optimiser: OptimiserConfig,
    /// Pairs that are pushed apart: any two states.
    pub critic_goals: GoalDistributionConfig,
    /// Pairs that are farther apart than this many steps are pushed less and less.
    pub push_offset: f32,
    /// How suddenly pushing ends.
    pub push_beta: f32,
    /// The constraint that an observed step is no longer than a step; the margin is of its mean square.
    pub constraint: DualConfig,
    /// The policy.
    pub policy: PolicyConfig,
    /// How it is drawn from the distance.
    pub extraction: Extraction,
}

impl QrlConfig {
    /// Of a preset.
    pub fn of(size: Size) -> Self {
        let mixture = GoalMixture { geometric: 0.0, random: 1.0, ..GoalMixture::default() };
        Self {
            critic: MetricSizes::with_intervals(size),
            critic_optimiser: OptimiserConfig::default(),
            critic_goals: GoalDistributionConfig { mixture, ..GoalDistributionConfig::default() },
            push_offset: 500.0,
            push_beta: 0.01,
            constraint: DualConfig { margin: 0.0025, learning_rate: 0.01, ..DualConfig::default() },
            policy: PolicyConfig::of(size),
            extraction: Extraction::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check::positive("push_offset", f64::from(self.push_offset))?;
        check::positive("push_beta", f64::from(self.push_beta))?;
        check::dual("constraint", &self.constraint)?;
        Policy::check(&self.extraction)
    }
}
