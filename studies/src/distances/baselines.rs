//! Straight lines, and the fastest recording between them: what needs no learning.

use isochrone_core::{Discount, ShapeError, TemporalDistance, statistics::median};
use isochrone_data::Dataset;
use rayon::prelude::*;

/// Rows that are looked at for every pair; of longer data, every so many.
const MAX_ROWS: u64 = 100_000;

/// Straight lines, in steps of median length.
pub struct Euclidean {
    width: usize,
    step: f64,
}

impl Euclidean {
    /// Takes the median length of a recorded step.
    pub fn fit(data: &Dataset) -> Self {
        let width = data.spec().observation.width;
        let mut lengths = Vec::new();
        for episode in 0..data.n_episodes() {
            let rows = data.episode(episode).observations;
            lengths.extend(
                rows.chunks_exact(width).zip(rows.chunks_exact(width).skip(1)).map(|(a, b)| apart(a, b)),
            );
        }
        lengths.retain(|length| *length > 0.0);
        Self { width, step: median(lengths) }
    }
}

/// The steps of the recording that passes nearest to both states, one after the other: `min h(s, x_i) + (j - i) + h(x_j, g)` over
/// rows `i <= j` of an episode, where `h` is a straight line over standardized columns in steps of median length.
pub struct NearestNeighbor {
    width: usize,
    /// Standard deviation of every column; 0 where it is constant.
    inverse_deviations: Vec<f32>,
    lines: Euclidean,
    /// Standardized rows of every episode.
    episodes: Vec<Vec<f32>>,
    /// Steps between rows that are kept.
    stride: usize,
}

impl NearestNeighbor {
    /// Keeps the recordings.
    pub fn fit(data: &Dataset) -> Self {
        let width = data.spec().observation.width;
        let rows = || (0..data.n_episodes()).map(|episode| data.episode(episode).observations);
        let n = data.index().n_states() as f64;
        let mean = |column: usize, power: i32| {
            let values = rows().flat_map(|rows| rows.iter().skip(column).step_by(width));
            values.map(|value| f64::from(*value).powi(power)).sum::<f64>() / n
        };
        let deviation = |column: usize| (mean(column, 2) - mean(column, 1).powi(2)).max(0.0).sqrt();
        let inverse = |deviation: f64| if deviation > 1e-9 { (1.0 / deviation) as f32 } else { 0.0 };
        let inverse_deviations: Vec<f32> = (0..width).map(|column| inverse(deviation(column))).collect();
        let scaled = |rows: &[f32]| -> Vec<f32> { standardized(rows, &inverse_deviations) };
        let all: Vec<Vec<f32>> = rows().map(scaled).collect();
        let empty = all.iter().map(|rows| (rows.clone(), Vec::<f32>::new()));
        let lines = Euclidean::fit(&Dataset::from_arrays(width, 0, empty).expect("the same episodes"));
        let stride = data.index().n_states().div_ceil(MAX_ROWS) as usize;
        let thinned = |rows: Vec<f32>| rows.chunks_exact(width).step_by(stride).flatten().copied().collect();
        let episodes = all.into_iter().map(thinned).collect();
        Self { width, inverse_deviations, lines, episodes, stride }
    }

    fn steps_of(&self, from: &[f32], to: &[f32]) -> f64 {
        let from = standardized(from, &self.inverse_deviations);
        let to = standardized(to, &self.inverse_deviations);
        let mut least = f64::INFINITY;
        for rows in &self.episodes {
            // The start that is best for all later ends: its hop, less the time at which it was passed.
            let mut start = f64::INFINITY;
            for (number, row) in rows.chunks_exact(self.width).enumerate() {
                let time = (number * self.stride) as f64;
                start = start.min(apart(&from, row) / self.lines.step - time);
                least = least.min(start + time + apart(row, &to) / self.lines.step);
            }
        }
        if from == to { 0.0 } else { least }
    }
}

fn standardized(rows: &[f32], inverse_deviations: &[f32]) -> Vec<f32> {
    rows.iter().zip(inverse_deviations.iter().cycle()).map(|(value, inverse)| value * inverse).collect()
}

fn apart(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
}

impl TemporalDistance for Euclidean {
    fn width(&self) -> usize {
        self.width
    }

    fn discount(&self) -> Discount {
        Discount::new(0.99).expect("a discount")
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() / self.step;
        let pairs = from.chunks_exact(self.width).zip(to.chunks_exact(self.width));
        pairs.map(|(from, to)| (apart(from, to) * unit) as f32).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        all_pairs(self, from, to)
    }
}

impl TemporalDistance for NearestNeighbor {
    fn width(&self) -> usize {
        self.width
    }

    fn discount(&self) -> Discount {
        self.lines.discount()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step();
        let pairs = from.par_chunks_exact(self.width).zip(to.par_chunks_exact(self.width));
        pairs.map(|(from, to)| (self.steps_of(from, to) * unit) as f32).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        all_pairs(self, from, to)
    }
}

/// All pairs, one row of `from` after another.
fn all_pairs(distance: &dyn TemporalDistance, from: &[f32], to: &[f32]) -> Vec<f32> {
    let width = distance.width();
    let row = |from: &[f32]| distance.paired_nats(&from.repeat(to.len() / width), to);
    from.chunks_exact(width).flat_map(row).collect()
}
