//! Settings of the refined distance.

use super::RefinedError;

/// The lengths of the recorded segments that become edges, in steps.
pub(crate) const LAGS: [usize; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/// Settings of [`RefinedDistance::fit`](super::RefinedDistance::fit). The defaults were chosen once
/// and are used for every dataset of `docs/results/distances`.
#[derive(Debug, Clone, PartialEq)]
pub struct RefinedConfig {
    /// The maximum number of landmarks; fewer are used if they cover all sampled rows exactly.
    pub landmarks: usize,
    /// The number of rows that landmarks are chosen from.
    pub sampled_rows: usize,
    /// The number of recorded pairs that the hop metric is fitted to.
    pub hop_pairs: usize,
    /// The maximum number of landmarks for which the distances of all pairs are stored in a table.
    pub table_landmarks: usize,
    /// The random seed.
    pub seed: u64,
}

impl Default for RefinedConfig {
    fn default() -> Self {
        Self { landmarks: 2000, sampled_rows: 40_000, hop_pairs: 60_000, table_landmarks: 4000, seed: 0 }
    }
}

impl RefinedConfig {
    pub(crate) fn check(&self) -> Result<(), RefinedError> {
        let settings = [
            ("landmarks", self.landmarks),
            ("sampled_rows", self.sampled_rows),
            ("hop_pairs", self.hop_pairs),
        ];
        match settings.into_iter().find(|(_, value)| *value == 0) {
            Some((field, value)) => Err(RefinedError::Setting { field, value, min: 1 }),
            None => Ok(()),
        }
    }
}
