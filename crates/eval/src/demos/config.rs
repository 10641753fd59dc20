//! Settings of the analysis of demonstrations.

use crate::refined::RefinedConfig;

/// Settings of [`Demos::fit`](super::Demos::fit).
#[derive(Debug, Clone, PartialEq)]
pub struct DemosConfig {
    /// The number of folds. The episodes of a fold are read by a distance that was fitted to the
    /// other folds.
    pub folds: usize,
    /// The maximum number of frames that a distance is fitted to; of more, whole episodes are
    /// chosen at equal intervals.
    pub reference_frames: usize,
    /// The maximum number of ends of successes that frames are compared with, for each task.
    pub ends_per_task: usize,
    /// Settings of the refined distances.
    pub refined: RefinedConfig,
}

impl Default for DemosConfig {
    fn default() -> Self {
        Self { folds: 5, reference_frames: 400_000, ends_per_task: 64, refined: RefinedConfig::default() }
    }
}
