use crate::{
    algos::check,
    parts::{ContrastConfig, Extraction, MetricSizes, OptimiserConfig, Policy, PolicyConfig, Size},
};
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{
    error::ConfigError,
    loss::{DualConfig, Hinge, InfoNce},
};
use serde::{Deserialize, Serialize};

/// Settings of [`Cmd2`](super::Cmd2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cmd2Config {
    /// The contrastive critic, first step.
    pub contrast: ContrastConfig,
    /// How it is moved.
    pub contrast_optimiser: OptimiserConfig,
    /// Its loss.
    pub infonce: InfoNce,
    /// Its goals: geometric offsets, from 0 on.
    pub critic_goals: GoalDistributionConfig,
    /// Largest product of two normalised points at the start; learned from there.
    pub initial_temperature: f64,
    /// The quasimetric, second step.
    pub critic: MetricSizes,
    /// How it is moved.
    pub critic_optimiser: OptimiserConfig,
    /// How differences from the first step's distances are punished.
    pub hinge: Hinge,
    /// The constraint that matched pairs are not overestimated.
    pub constraint: DualConfig,
    /// The share of rows that are shown without their action, so that distances between states are learned too.
    pub states_alone: f64,
    /// The policy.
    pub policy: PolicyConfig,
    /// How it is drawn from the distance.
    pub extraction: Extraction,
}

impl Cmd2Config {
    /// Of a preset.
    pub fn of(size: Size) -> Self {
        Self {
            contrast: ContrastConfig::of(size),
            contrast_optimiser: OptimiserConfig::default(),
            infonce: InfoNce::default(),
            critic_goals: GoalDistributionConfig::default(),
            initial_temperature: 5.0,
            critic: MetricSizes::of(size),
            critic_optimiser: OptimiserConfig::default(),
            hinge: Hinge::Squared,
            constraint: DualConfig { learning_rate: 0.02, ..DualConfig::default() },
            states_alone: 0.5,
            policy: PolicyConfig::of(size),
            extraction: Extraction::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check::fraction("states_alone", self.states_alone)?;
        check::positive("initial_temperature", self.initial_temperature)?;
        check::dual("constraint", &self.constraint)?;
        if let Hinge::Huber { width } = self.hinge {
            check::positive("hinge.width", f64::from(width))?;
        }
        Policy::check(&self.extraction)
    }
}
