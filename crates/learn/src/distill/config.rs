//! Settings of a distillation.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How a network compares two states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DistillHead {
    /// A network of both states together. It keeps the arrow of time, also between neighbors, and says where
    /// there is no path; it is not a metric.
    #[default]
    Pair,
    /// A metric residual network of 8 components: a quasimetric, fast for all pairs. It is continuous, so
    /// that one step behind on a one-way street reads too short.
    Mrn,
}

impl DistillHead {
    /// Its name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Mrn => "mrn",
        }
    }
}

/// Settings of [`distill`](super::distill).
#[derive(Debug, Clone, PartialEq)]
pub struct DistillConfig {
    /// How the network compares two states.
    pub head: DistillHead,
    /// Updates of the network.
    pub updates: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// Steps per unit of every column of a state, as a hop metric has them; columns with 0 are not looked at.
    /// Without them, all columns count alike, by their deviations.
    pub column_scales: Option<Vec<f32>>,
    /// The columns of a goal that the network sees, where the teacher does not look at others either; all of
    /// them unless it is set. A quasimetric needs all.
    pub goal: Option<Range<usize>>,
}

impl Default for DistillConfig {
    fn default() -> Self {
        Self { head: DistillHead::Pair, updates: 3000, seed: 0, column_scales: None, goal: None }
    }
}
