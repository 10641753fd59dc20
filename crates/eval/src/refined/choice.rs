//! The choice of landmarks.

use super::{HopMetric, RefinedConfig, RefinedError, cover::k_center, jumps, rows::Rows};
use isochrone_core::rng;
use isochrone_data::Dataset;

/// The minimum average number of rows per landmark if states do not recur; with fewer rows,
/// segments between neighboring landmarks are missing.
const ROWS_PER_LANDMARK: usize = 24;
/// The minimum number of landmarks.
const MIN_LANDMARKS: usize = 32;

/// Landmarks, and what they were chosen with.
pub(crate) struct Choice {
    pub metric: HopMetric,
    /// For every column, the largest change in a step that is not a jump.
    pub jump_limits: Vec<f32>,
    /// For every row, the number of jumps up to it.
    pub jumps_before: Vec<u32>,
    /// All rows, projected.
    pub rows: Rows,
    /// The rows that are landmarks.
    pub landmark_rows: Vec<u32>,
    /// The largest hop from a sampled row to its landmark, in steps.
    pub radius: f32,
}

impl Choice {
    /// Chooses landmarks among the rows of `data`, which is a sample of a dataset of `n_rows` rows,
    /// or that dataset itself.
    pub fn of(data: &Dataset, n_rows: usize, config: &RefinedConfig) -> Result<Self, RefinedError> {
        config.check()?;
        if data.n_transitions() == 0 {
            return Err(RefinedError::NoTransition);
        }
        data.check_finite()?;
        let jump_limits = jumps::largest_steps(data);
        let jumps_before = running_count(jumps::find(data, &jump_limits));
        let metric = HopMetric::fit(data, &jumps_before, config.hop_pairs, config.seed)?;
        let rows = metric.rows(data);
        let sampled = sample(rows.len(), config.sampled_rows, config.seed);
        let mut chosen = k_center(&rows.select(&sampled), rows.width, config.landmarks);
        let recur = chosen.len() <= n_rows / 2 && chosen[chosen.len() - 1].1 == 0.0;
        if !recur {
            chosen.truncate((n_rows / ROWS_PER_LANDMARK).max(MIN_LANDMARKS));
        }
        let radius = chosen[chosen.len() - 1].1;
        let landmark_rows = chosen.into_iter().map(|(number, _)| sampled[number]).collect();
        Ok(Self { metric, jump_limits, jumps_before, rows, landmark_rows, radius })
    }
}

/// Returns the number of `true` values up to and including each index.
pub(crate) fn running_count(set: impl IntoIterator<Item = bool>) -> Vec<u32> {
    let mut count = 0;
    let add = |set| {
        count += u32::from(set);
        count
    };
    set.into_iter().map(add).collect()
}

/// Returns at most `max` numbers below `n`, in order: all of them, or a random sample with
/// replacement.
pub(crate) fn sample(n: usize, max: usize, seed: u64) -> Vec<u32> {
    if n <= max {
        return (0..n as u32).collect();
    }
    let mut random = rng::stream(seed, 1);
    let mut drawn: Vec<u32> = (0..max).map(|_| rng::below(&mut random, n) as u32).collect();
    drawn.sort_unstable();
    drawn
}
