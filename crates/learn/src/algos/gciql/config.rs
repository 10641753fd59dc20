use crate::{
    algos::check,
    parts::{Extraction, OptimiserConfig, Policy, PolicyConfig, Size, ValueConfig},
};
use isochrone_data::sampling::{GoalDistributionConfig, GoalMixture};
use isochrone_nn::error::ConfigError;
use serde::{Deserialize, Serialize};

/// Settings of [`Gciql`](super::Gciql).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GciqlConfig {
    /// Values of states, and of states with actions.
    pub critic: ValueConfig,
    /// How both are moved.
    pub critic_optimiser: OptimiserConfig,
    /// Their goals.
    pub critic_goals: GoalDistributionConfig,
    /// Which expectile of the actions' values is a state's: 0.5 the mean, near 1 the best that was seen.
    pub expectile: f32,
    /// How fast targets follow.
    pub target_rate: f32,
    /// The policy.
    pub policy: PolicyConfig,
    /// How it is drawn from the values.
    pub extraction: Extraction,
}

/// 0.2 here, 0.5 later in the episode, 0.3 anywhere, as in OGBench.
pub(crate) fn hindsight_goals() -> GoalDistributionConfig {
    let mixture = GoalMixture { current: 0.2, geometric: 0.5, uniform: 0.0, random: 0.3 };
    GoalDistributionConfig { mixture, ..GoalDistributionConfig::default() }
}

impl GciqlConfig {
    /// Of a preset.
    pub fn of(size: Size) -> Self {
        Self {
            critic: ValueConfig::of(size),
            critic_optimiser: OptimiserConfig::default(),
            critic_goals: hindsight_goals(),
            expectile: 0.9,
            target_rate: 0.005,
            policy: PolicyConfig::of(size),
            extraction: Extraction::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check::fraction("expectile", f64::from(self.expectile))?;
        check::fraction("target_rate", f64::from(self.target_rate))?;
        Policy::check(&self.extraction)
    }
}
