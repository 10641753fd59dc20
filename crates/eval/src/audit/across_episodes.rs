//! Agreement across episodes: what metrics of training do not see.

use super::readings::Readings;
use isochrone_core::{TemporalDistance, rng, statistics::spearman};

/// Pairs that are looked at.
const SAMPLES: usize = 2000;

/// Random pairs of states, which are of different episodes, and recorded time between them.
pub struct AcrossEpisodes {
    from: Vec<u64>,
    to: Vec<u64>,
    recorded_steps: Vec<f64>,
}

impl AcrossEpisodes {
    /// Draws pairs of states that `readings` are about; `recorded` is a [refined distance](crate::refined).
    pub fn new(readings: &Readings<'_>, recorded: &dyn TemporalDistance, seed: u64) -> Self {
        let mut random = rng::stream(seed, 5);
        let mut states = || (0..SAMPLES).map(|_| readings.any_state(&mut random)).collect::<Vec<u64>>();
        let (from, to) = (states(), states());
        let recorded_steps = Readings::of_distance(recorded, readings.data()).steps(&from, &to);
        Self { from, to, recorded_steps }
    }

    /// Rank correlation of readings with recorded time, where there is any. NaN where one of them is constant, or no path is known.
    pub fn rank_correlation(&self, readings: &Readings<'_>) -> f64 {
        let pairs = readings.steps(&self.from, &self.to).into_iter().zip(self.recorded_steps.iter().copied());
        let (read, recorded): (Vec<f64>, Vec<f64>) =
            pairs.filter(|(read, recorded)| read.is_finite() && recorded.is_finite()).unzip();
        spearman(&read, &recorded)
    }
}
