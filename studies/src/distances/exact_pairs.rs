//! Pairs of states with the exact steps between them.

use isochrone_data::Dataset;

/// Pairs of states, `[n, width]` each, and the exact steps from the first to the second.
#[derive(Debug, Clone, Default)]
pub struct ExactPairs {
    pub from: Vec<f32>,
    pub to: Vec<f32>,
    pub steps: Vec<f64>,
}

impl ExactPairs {
    pub fn push(&mut self, from: &[f32], to: &[f32], steps: f64) {
        self.from.extend(from);
        self.to.extend(to);
        self.steps.push(steps);
    }

    /// Returns the first transition of every episode: one step ahead.
    pub fn first_steps(data: &Dataset) -> Self {
        let (mut pairs, width) = (Self::default(), data.spec().observation.width);
        for episode in 0..data.n_episodes() {
            let rows = data.episode(episode).observations;
            pairs.push(&rows[..width], &rows[width..2 * width], 1.0);
        }
        pairs
    }
}
