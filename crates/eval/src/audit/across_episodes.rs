//! Agreement across episodes: what metrics of training do not see.

use isochrone_core::{TemporalDistance, rng, statistics::spearman};
use isochrone_data::Dataset;

/// Pairs that are looked at.
const SAMPLES: usize = 2000;

/// Random pairs of states, which are of different episodes, and recorded time between them.
pub struct AcrossEpisodes {
    from: Vec<f32>,
    to: Vec<f32>,
    recorded_steps: Vec<f64>,
}

impl AcrossEpisodes {
    /// Draws states of `data` and keeps the pairs with a recorded path; `recorded` is a [refined distance](crate::refined).
    pub fn new(recorded: &dyn TemporalDistance, data: &Dataset, seed: u64) -> Self {
        let (width, n_states) = (data.spec().observation.width, data.index().n_states() as usize);
        let mut random = rng::stream(seed, 5);
        let mut states = || {
            let state = |_| {
                let state = rng::below(&mut random, n_states) as u64;
                let episode = data.index().episode_of_state(state);
                let row = (state - data.index().states(episode).start) as usize;
                &data.episode(episode).observations[row * width..][..width]
            };
            (0..SAMPLES).flat_map(state).copied().collect::<Vec<f32>>()
        };
        let (from, to) = (states(), states());
        let steps = recorded.paired_steps(&from, &to).expect("they are whole states");
        let mut kept = Self { from: Vec::new(), to: Vec::new(), recorded_steps: Vec::new() };
        let pairs = from.chunks_exact(width).zip(to.chunks_exact(width)).zip(steps);
        for ((from, to), steps) in pairs.filter(|(_, steps)| steps.is_finite()) {
            kept.from.extend(from);
            kept.to.extend(to);
            kept.recorded_steps.push(steps);
        }
        kept
    }

    /// Rank correlation of a distance with recorded time. NaN where one of them is constant, or no path is known.
    pub fn rank_correlation(&self, distance: &dyn TemporalDistance) -> f64 {
        let read = distance.paired_steps(&self.from, &self.to).expect("they are whole states");
        let pairs = read.into_iter().zip(self.recorded_steps.iter().copied());
        let (read, recorded): (Vec<f64>, Vec<f64>) = pairs.filter(|(read, _)| read.is_finite()).unzip();
        spearman(&read, &recorded)
    }
}
