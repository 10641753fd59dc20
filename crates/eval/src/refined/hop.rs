//! The hop metric: how many steps a short move between two states takes.

use super::{RefinedError, nnls};
use isochrone_core::rng;
use isochrone_data::Dataset;

/// Pairs of rows that the metric is fitted to are at most so many steps apart: longer ones are seldom straight.
const MAX_LAG: usize = 8;

/// A column that explains less of the mean squared lag than this has no weight: it would be chance, and cost time.
const MIN_SHARE: f64 = 2e-3;

/// Hops between states, in steps: `h(u, v)^2 = sum_i w_i (u_i - v_i)^2`.
///
/// The weights are those of the regression of lag: over pairs of rows `k <= 8` steps apart,
/// `k^2 = sum_i w_i (x_i(t + k) - x_i(t))^2 + b` with `w >= 0`. Columns that say nothing about elapsed time have no weight.
#[derive(Debug, Clone, PartialEq)]
pub struct HopMetric {
    width: usize,
    /// Columns with a weight, and the square root of the weight.
    scales: Vec<(usize, f32)>,
}

impl HopMetric {
    /// A metric with these weights, one for each column.
    pub fn new(weights: &[f64]) -> Self {
        let scales = weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        let scales = scales.map(|(column, weight)| (column, weight.sqrt() as f32)).collect();
        Self { width: weights.len(), scales }
    }

    /// Fits the weights to `pairs` recorded pairs of rows without a jump between them. `jumps_before` counts, for every row
    /// of the dataset, the jumps up to it.
    ///
    /// # Errors
    /// [`RefinedError::NoTimeInColumns`] if no column gets a weight.
    pub(crate) fn fit(
        data: &Dataset,
        jumps_before: &[u32],
        pairs: usize,
        seed: u64,
    ) -> Result<Self, RefinedError> {
        let (index, width) = (data.index(), data.spec().observation.width);
        // The last coefficient is the intercept, as the difference of two that are not negative.
        let n = width + 2;
        let (mut gram, mut moment) = (vec![0.0; n * n], vec![0.0; n]);
        let mut random = rng::stream(seed, 0);
        let mut squares = vec![0.0; n];
        (squares[width], squares[width + 1]) = (1.0, -1.0);
        for number in 0..pairs {
            let (episode, row) =
                index.row_of_transition(rng::below(&mut random, index.n_transitions() as usize) as u64);
            let lag = 1 + number % MAX_LAG;
            let first = index.states(episode).start as usize + row;
            if row + lag > index.steps(episode) || jumps_before[first] != jumps_before[first + lag] {
                continue;
            }
            let rows = &data.episode(episode).observations[row * width..][..(lag + 1) * width];
            for column in 0..width {
                squares[column] = f64::from(rows[lag * width + column] - rows[column]).powi(2);
            }
            for i in 0..n {
                moment[i] += squares[i] * (lag * lag) as f64;
                for j in 0..n {
                    gram[i * n + j] += squares[i] * squares[j];
                }
            }
        }
        // The intercept's column is 1 for every pair: its products are sums.
        let n_pairs = gram[width * n + width];
        let mean_squares: Vec<f64> = (0..width).map(|column| gram[column * n + width] / n_pairs).collect();
        let mean_lag_squared = moment[width] / n_pairs;
        // Columns of one size: coordinate descent then needs few sweeps.
        let sizes: Vec<f64> = (0..n).map(|i| gram[i * n + i].sqrt()).collect();
        let inverse = |i: usize| if sizes[i] > 0.0 { 1.0 / sizes[i] } else { 0.0 };
        for i in 0..n {
            moment[i] *= inverse(i);
            for j in 0..n {
                gram[i * n + j] *= inverse(i) * inverse(j);
            }
        }
        let mut weights: Vec<f64> =
            nnls::solve(&gram, &moment)[..width].iter().enumerate().map(|(i, w)| w * inverse(i)).collect();
        for column in 0..width {
            if weights[column] * mean_squares[column] < MIN_SHARE * mean_lag_squared {
                weights[column] = 0.0;
            }
        }
        let metric = Self::new(&weights);
        if metric.scales.is_empty() { Err(RefinedError::NoTimeInColumns) } else { Ok(metric) }
    }

    /// Numbers of a state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The weight of every column.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.width];
        for &(column, scale) in &self.scales {
            weights[column] = f64::from(scale).powi(2);
        }
        weights
    }

    /// Steps per unit of every column: the square root of its weight.
    pub fn column_scales(&self) -> Vec<f32> {
        let mut scales = vec![0.0; self.width];
        for &(column, scale) in &self.scales {
            scales[column] = scale;
        }
        scales
    }

    /// Columns with a weight: the width of projected rows.
    pub(crate) fn projected_width(&self) -> usize {
        self.scales.len()
    }

    /// Appends rows, `[n, width]`, in coordinates whose straight lines are hops in steps.
    pub(crate) fn project(&self, rows: &[f32], projected: &mut Vec<f32>) {
        for row in rows.chunks_exact(self.width) {
            projected.extend(self.scales.iter().map(|&(column, scale)| row[column] * scale));
        }
    }

    /// Steps of a hop between two states.
    pub fn steps(&self, from: &[f32], to: &[f32]) -> f32 {
        let square = |&(column, scale): &(usize, f32)| ((to[column] - from[column]) * scale).powi(2);
        self.scales.iter().map(square).sum::<f32>().sqrt()
    }
}
