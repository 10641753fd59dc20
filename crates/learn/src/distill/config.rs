//! Settings of distillation.

use crate::device::ComputeDevice;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How a network compares two states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DistillHead {
    /// A network of both states together. It represents asymmetric distances, also between
    /// neighboring states, and predicts unreachable pairs; it is not a metric.
    #[default]
    Pair,
    /// A metric residual network of 8 components: a quasimetric, fast for all pairs. It is
    /// continuous, so that it underestimates the distance to a state one step behind on a one-way
    /// street.
    Mrn,
}

impl DistillHead {
    /// The name in files and reports.
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
    /// The number of updates.
    pub updates: u64,
    /// The random seed.
    pub seed: u64,
    /// Steps per unit of every column of a state, as in a hop metric; columns with 0 are ignored.
    /// Without them, every column is divided by its standard deviation.
    pub column_scales: Option<Vec<f32>>,
    /// The columns of a goal that are inputs of the network, for a teacher that ignores the others;
    /// by default all columns. A quasimetric needs all columns.
    pub goal: Option<Range<usize>>,
    /// The device that trains the network and answers queries.
    pub device: ComputeDevice,
}

impl Default for DistillConfig {
    fn default() -> Self {
        Self {
            head: DistillHead::Pair,
            updates: 3000,
            seed: 0,
            column_scales: None,
            goal: None,
            device: ComputeDevice::Cpu,
        }
    }
}
