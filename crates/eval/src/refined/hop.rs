//! The hop metric: the number of steps that a short movement between two states takes.

use super::{RefinedError, lag_sample::LagSample, rows::Rows};
use isochrone_data::Dataset;

/// Hops between states, in steps: `h(u, v)^2 = sum_i w_i (u_i - v_i)^2`.
///
/// The weights are fitted by regression of lag: over pairs of rows `k <= 8` steps apart, `k^2 =
/// sum_i w_i (x_i(t + k) - x_i(t))^2 + b` with `w >= 0`. Columns that are not informative about
/// elapsed time have weight 0.
///
/// A slow column may explain little of the lag because it seldom changes, and yet changing it takes
/// time: a cube on a table moves only while it is carried. The weight of such a column is at least
/// `1 / v_i^2`, where `v_i` is its speed limit; all weights are then scaled by one factor to fit
/// the lag again.
#[derive(Debug, Clone, PartialEq)]
pub struct HopMetric {
    width: usize,
    /// The columns with nonzero weight, and the square roots of their weights.
    scales: Vec<(usize, f32)>,
}

impl HopMetric {
    /// Creates a metric with these weights, one for each column.
    pub fn new(weights: &[f64]) -> Self {
        let scales = weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        let scales = scales.map(|(column, weight)| (column, weight.sqrt() as f32)).collect();
        Self { width: weights.len(), scales }
    }

    /// Fits the weights to `pairs` recorded pairs of rows without a jump between them.
    /// `jumps_before` counts, for every row of the dataset, the jumps up to it.
    ///
    /// # Errors
    /// [`RefinedError::NoTimeInColumns`] if all weights are 0.
    pub(crate) fn fit(
        data: &Dataset,
        jumps_before: &[u32],
        pairs: usize,
        seed: u64,
    ) -> Result<Self, RefinedError> {
        let sample = LagSample::draw(data, jumps_before, pairs, seed);
        let mut weights = sample.regress();
        let regressed = weights.clone();
        for (column, floor) in sample.slow_columns() {
            weights[column] = weights[column].max(floor);
        }
        if weights != regressed {
            let scale = sample.scale_of(&weights);
            weights.iter_mut().for_each(|weight| *weight *= scale);
        }
        let metric = Self::new(&weights);
        if metric.scales.is_empty() { Err(RefinedError::NoTimeInColumns) } else { Ok(metric) }
    }

    /// Returns the metric of some columns only, scaled to fit the lag again; the metric itself if
    /// none of the columns has a weight. The other arguments are those of [`fit`](Self::fit).
    pub(crate) fn of_columns(
        &self,
        columns: &[usize],
        data: &Dataset,
        jumps_before: &[u32],
        pairs: usize,
        seed: u64,
    ) -> Self {
        let mut weights = self.weights();
        let is_chosen = |column: usize| columns.contains(&column);
        (0..weights.len()).filter(|&column| !is_chosen(column)).for_each(|column| weights[column] = 0.0);
        if weights.iter().all(|weight| *weight == 0.0) {
            return self.clone();
        }
        let scale = LagSample::draw(data, jumps_before, pairs, seed).scale_of(&weights);
        weights.iter_mut().for_each(|weight| *weight *= scale);
        Self::new(&weights)
    }

    /// Returns the number of values in a state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the weight of every column.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.width];
        for &(column, scale) in &self.scales {
            weights[column] = f64::from(scale).powi(2);
        }
        weights
    }

    /// Returns the steps per unit of every column: the square root of its weight.
    pub fn column_scales(&self) -> Vec<f32> {
        let mut scales = vec![0.0; self.width];
        for &(column, scale) in &self.scales {
            scales[column] = scale;
        }
        scales
    }

    /// Returns the number of columns with nonzero weight, which is the width of projected rows.
    pub(crate) fn projected_width(&self) -> usize {
        self.scales.len()
    }

    /// Returns all rows of a dataset, projected.
    pub(crate) fn rows(&self, data: &Dataset) -> Rows {
        Rows::new(data, self.projected_width(), |rows, into| self.project(rows, into))
    }

    /// Appends rows, `[n, width]`, in coordinates in which Euclidean distances are hops in steps.
    pub(crate) fn project(&self, rows: &[f32], projected: &mut Vec<f32>) {
        for row in rows.chunks_exact(self.width) {
            projected.extend(self.scales.iter().map(|&(column, scale)| row[column] * scale));
        }
    }

    /// Returns the length of the hop between two states, in steps.
    pub fn steps(&self, from: &[f32], to: &[f32]) -> f32 {
        let square = |&(column, scale): &(usize, f32)| ((to[column] - from[column]) * scale).powi(2);
        self.scales.iter().map(square).sum::<f32>().sqrt()
    }
}
