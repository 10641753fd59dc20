use crate::{
    algos::check,
    parts::{Extraction, MetricSizes, OptimiserConfig, Policy, PolicyConfig, Size},
};
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{error::ConfigError, loss::InfoNce};
use serde::{Deserialize, Serialize};

/// Settings of [`Cmd1`](super::Cmd1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cmd1Config {
    /// The quasimetric; the potential has the same hidden layers.
    pub critic: MetricSizes,
    /// How both are moved.
    pub critic_optimiser: OptimiserConfig,
    /// The contrastive loss.
    pub contrast: InfoNce,
    /// Goals of the contrastive loss: geometric offsets, from 0 on.
    pub critic_goals: GoalDistributionConfig,
    /// The share of rows that are shown without their action, so that distances between states are learned too.
    pub states_alone: f64,
    /// The policy.
    pub policy: PolicyConfig,
    /// How it is drawn from the distance.
    pub extraction: Extraction,
}

impl Cmd1Config {
    /// Of a preset.
    pub fn of(size: Size) -> Self {
        Self {
            critic: MetricSizes::of(size),
            critic_optimiser: OptimiserConfig::default(),
            contrast: InfoNce::default(),
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
