//! Baselines that learn nothing: straight lines, and the fastest recorded trajectory.

use isochrone_core::{Discount, ShapeError, TemporalDistance, statistics::median};
use isochrone_data::Dataset;
use rayon::prelude::*;

/// The largest number of rows that are compared with every pair; longer data are subsampled.
const MAX_ROWS: u64 = 100_000;

/// The Euclidean distance, in recorded steps of median length.
pub struct Euclidean {
    width: usize,
    step: f64,
}

impl Euclidean {
    /// Computes the median length of a recorded step.
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

/// The steps of the recorded trajectory that passes nearest to both states in order:
/// `min h(s, x_i) + (j - i) + h(x_j, g)` over rows `i <= j` of an episode, where `h` is the
/// Euclidean distance over standardized columns in steps of median length.
pub struct NearestNeighbor {
    width: usize,
    /// The inverse standard deviation of every column; 0 for constant columns.
    inverse_deviations: Vec<f32>,
    lines: Euclidean,
    /// Standardized rows of every episode.
    episodes: Vec<Vec<f32>>,
    /// The number of steps between stored rows.
    stride: usize,
}

impl NearestNeighbor {
    /// Stores the rows of a dataset.
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

    /// The steps of a straight line from a state to every stored row.
    fn steps_to_rows(&self, state: &[f32]) -> Vec<f32> {
        let state = standardized(state, &self.inverse_deviations);
        let rows = self.episodes.iter().flat_map(|rows| rows.chunks_exact(self.width));
        rows.map(|row| (apart(&state, row) / self.lines.step) as f32).collect()
    }

    /// The steps from every stored row to a goal: along the trajectory, then in a straight line.
    fn rest_to(&self, goal: &[f32]) -> Vec<f32> {
        let mut rest = self.steps_to_rows(goal);
        let mut end = rest.len();
        for rows in self.episodes.iter().rev() {
            let start = end - rows.len() / self.width;
            for row in (start..end - 1).rev() {
                rest[row] = rest[row].min(rest[row + 1] + self.stride as f32);
            }
            end = start;
        }
        rest
    }
}

/// The smallest sum of the two numbers of a row.
fn min_sum(to_rows: &[f32], rest: &[f32]) -> f32 {
    to_rows.iter().zip(rest).map(|(to_row, rest)| to_row + rest).fold(f32::INFINITY, f32::min)
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
        let row = |from: &[f32]| self.paired_nats(&from.repeat(to.len() / self.width), to);
        from.chunks_exact(self.width).flat_map(row).collect()
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
        let pairs = from.par_chunks_exact(self.width).zip(to.par_chunks_exact(self.width));
        pairs.flat_map_iter(|(from, to)| self.all_pairs_nats(from, to)).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() as f32;
        let goals: Vec<(&[f32], Vec<f32>)> =
            to.par_chunks_exact(self.width).map(|goal| (goal, self.rest_to(goal))).collect();
        let row = |from: &[f32]| {
            let to_rows = self.steps_to_rows(from);
            let steps = |(goal, rest): &(&[f32], Vec<f32>)| {
                if from == *goal { 0.0 } else { min_sum(&to_rows, rest) }
            };
            goals.iter().map(|goal| unit * steps(goal)).collect::<Vec<f32>>()
        };
        from.par_chunks_exact(self.width).flat_map_iter(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One trajectory runs forward and another backward: both take one step per unit.
    #[test]
    fn the_nearest_trajectory_is_followed_forward() {
        let forward: Vec<f32> = (0..10).map(|step| step as f32).collect();
        let back: Vec<f32> = forward.iter().rev().map(|x| x + 100.0).collect();
        let data = Dataset::from_arrays(1, 0, [forward, back].map(|rows| (rows, Vec::<f32>::new()))).unwrap();
        let distance = NearestNeighbor::fit(&data);
        let steps = |from: f32, to: f32| distance.steps(&[from], &[to]).unwrap();
        assert!((steps(2.0, 7.0) - 5.0).abs() < 1e-4 && (steps(107.0, 102.0) - 5.0).abs() < 1e-4);
        assert_eq!(steps(3.0, 3.0), 0.0);
        // Against the direction of the trajectory, only straight lines are left.
        assert!((steps(7.0, 2.0) - 5.0).abs() < 1e-4);
        assert!((steps(0.0, 9.5) - 9.5).abs() < 1e-4);
    }
}
