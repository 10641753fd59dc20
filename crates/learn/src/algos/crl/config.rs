use crate::{
    algos::check,
    parts::{ContrastConfig, Extraction, OptimiserConfig, Policy, PolicyConfig, Size},
};
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{error::ConfigError, loss::InfoNce};
use serde::{Deserialize, Serialize};

/// Which contrastive loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CrlLoss {
    /// Independent yes-or-no questions.
    Nce,
    /// Which of all.
    Cpc(InfoNce),
}

/// Settings of [`Crl`](super::Crl).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CrlConfig {
    /// The contrastive critic.
    pub critic: ContrastConfig,
    /// How it is moved.
    pub critic_optimiser: OptimiserConfig,
    /// Its loss.
    pub loss: CrlLoss,
    /// Its goals: geometric offsets, from 0 on.
    pub critic_goals: GoalDistributionConfig,
    /// The share of rows that are shown without their action, so that distances between states are learned too.
    pub states_alone: f64,
    /// The policy.
    pub policy: PolicyConfig,
    /// How it is drawn from the critic.
    pub extraction: Extraction,
}

impl CrlConfig {
    /// Of a preset.
    pub fn of(size: Size, loss: CrlLoss) -> Self {
        Self {
            critic: ContrastConfig { embedding: size.latent(), ..ContrastConfig::of(size) },
            critic_optimiser: OptimiserConfig::default(),
            loss,
            critic_goals: GoalDistributionConfig::default(),
            states_alone: 0.5,
            policy: PolicyConfig::of(size),
            extraction: Extraction::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check::fraction("states_alone", self.states_alone)?;
        Policy::check(&self.extraction)
    }
}
