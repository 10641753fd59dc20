use crate::{
    algos::{check, gciql::hindsight_goals},
    parts::{OptimiserConfig, PolicyConfig, Size, ValueConfig},
};
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::error::ConfigError;
use serde::{Deserialize, Serialize};

/// Settings of [`Ddpg`](super::Ddpg).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DdpgConfig {
    /// Values of states with actions.
    pub critic: ValueConfig,
    /// How they are moved.
    pub critic_optimiser: OptimiserConfig,
    /// Their goals.
    pub critic_goals: GoalDistributionConfig,
    /// How fast targets follow.
    pub target_rate: f32,
    /// Weight of likeness to the data.
    pub cloning: f32,
    /// The policy.
    pub policy: PolicyConfig,
}

impl DdpgConfig {
    /// Of a preset.
    pub fn of(size: Size) -> Self {
        Self {
            critic: ValueConfig::of(size),
            critic_optimiser: OptimiserConfig::default(),
            critic_goals: hindsight_goals(),
            target_rate: 0.005,
            cloning: 0.1,
            policy: PolicyConfig::of(size),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check::fraction("target_rate", f64::from(self.target_rate))?;
        if self.cloning.is_finite() && self.cloning >= 0.0 {
            return Ok(());
        }
        Err(ConfigError::new("cloning", self.cloning, "is out of range", "0.1 is usual, 0 is for none"))
    }
}
