//! Settings of the model.

use super::error::ChanceError;

/// Settings of [`ChanceModel::fit`](super::ChanceModel::fit). The defaults were chosen on
/// pointmaze-teleport-navigate.
#[derive(Debug, Clone, PartialEq)]
pub struct ChanceConfig {
    /// The cover radius of landmarks, in mean steps.
    pub radius_steps: f32,
    /// The maximum number of landmarks before those near entries are added; with fewer than the
    /// radius needs, the radius is larger.
    pub landmarks: usize,
    /// The number of rows that landmarks are chosen from.
    pub sampled_rows: usize,
    /// The number of recorded pairs that the hop metric is fitted to.
    pub hop_pairs: usize,
    /// Whether moves that the data lack are left out: the reverses of recorded moves, and
    /// connections between landmarks that are near each other.
    pub recorded_only: bool,
    /// The distance that a policy strays from its path, in mean steps. The hazard of a landmark is
    /// the largest within this distance.
    pub clearance_steps: f32,
    /// The random seed.
    pub seed: u64,
}

impl Default for ChanceConfig {
    fn default() -> Self {
        Self {
            radius_steps: 2.6,
            landmarks: 4000,
            sampled_rows: 60_000,
            hop_pairs: 60_000,
            recorded_only: false,
            clearance_steps: 0.0,
            seed: 0,
        }
    }
}

impl ChanceConfig {
    pub(super) fn check(&self) -> Result<(), ChanceError> {
        let positive = [
            ("radius_steps", f64::from(self.radius_steps)),
            ("landmarks", self.landmarks as f64),
            ("sampled_rows", self.sampled_rows as f64),
            ("hop_pairs", self.hop_pairs as f64),
        ];
        let wrong = positive.into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0));
        let clearance = f64::from(self.clearance_steps);
        let wrong = wrong
            .or((!(clearance.is_finite() && clearance >= 0.0)).then_some(("clearance_steps", clearance)));
        match wrong {
            Some((field, value)) => Err(ChanceError::Setting { field, value }),
            None => Ok(()),
        }
    }
}
