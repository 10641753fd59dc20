//! Agreement with recorded time across episodes, which training metrics do not measure.

use super::readings::Readings;
use isochrone_core::{TemporalDistance, rng, statistics::spearman};

/// The number of sampled pairs.
const SAMPLES: usize = 2000;

/// Random pairs of states, almost all of different episodes, and the recorded time between them.
pub struct AcrossEpisodes {
    from: Vec<u64>,
    to: Vec<u64>,
    recorded_steps: Vec<f64>,
}

impl AcrossEpisodes {
    /// Samples pairs of states that `readings` cover; `recorded` is a [refined
    /// distance](crate::refined).
    pub fn new(readings: &Readings<'_>, recorded: &dyn TemporalDistance, seed: u64) -> Self {
        let mut random = rng::stream(seed, 5);
        let mut states = || (0..SAMPLES).map(|_| readings.any_state(&mut random)).collect::<Vec<u64>>();
        let (from, to) = (states(), states());
        let recorded_steps = Readings::of_distance(recorded, readings.data()).steps(&from, &to);
        Self { from, to, recorded_steps }
    }

    /// Returns the rank correlation of readings with recorded time, over pairs for which both are
    /// finite; NaN if one of them is constant or there are no such pairs.
    pub fn rank_correlation(&self, readings: &Readings<'_>) -> f64 {
        let pairs = readings.steps(&self.from, &self.to).into_iter().zip(self.recorded_steps.iter().copied());
        let (read, recorded): (Vec<f64>, Vec<f64>) =
            pairs.filter(|(read, recorded)| read.is_finite() && recorded.is_finite()).unzip();
        spearman(&read, &recorded)
    }
}
