//! Recorded pairs of rows a few steps apart, to which the hop metric is fitted.

use super::nnls;
use crate::quantile::at_quantile;
use isochrone_core::rng;
use isochrone_data::Dataset;

/// The maximum number of steps between the rows of a pair; longer segments are seldom straight.
const MAX_LAG: usize = 8;
/// A column that explains a smaller fraction of the mean squared lag has weight 0: its fit would be
/// noise, and it would cost time.
const MIN_SHARE: f64 = 2e-3;
/// The displacement at this quantile defines the speed limit of a column; larger ones may be
/// glitches.
const FASTEST: f64 = 0.998;
/// A column is slow if it takes more than this many steps to cross its standard deviation at its
/// speed limit. The joints of a walking ant take two to three steps, its position 27, its heading
/// ten; the joints of a robot arm and a cube that it carries take four to thirteen.
const SLOW_STEPS: f64 = 3.5;

/// Squared displacements of recorded pairs, and their lags.
pub(crate) struct LagSample {
    width: usize,
    /// `[pairs, width]`
    squares: Vec<f64>,
    /// The squared lags.
    lags: Vec<f64>,
    /// The standard deviation of every column.
    deviations: Vec<f64>,
}

impl LagSample {
    /// Samples `pairs` pairs and keeps those without a jump between them. `jumps_before` counts,
    /// for every row of the dataset, the jumps up to it.
    pub fn draw(data: &Dataset, jumps_before: &[u32], pairs: usize, seed: u64) -> Self {
        let (index, width) = (data.index(), data.spec().observation.width);
        let mut random = rng::stream(seed, 0);
        let (mut squares, mut lags) = (Vec::new(), Vec::new());
        let (mut sums, mut sums_of_squares) = (vec![0.0; width], vec![0.0; width]);
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
                let value = f64::from(rows[column]);
                sums[column] += value;
                sums_of_squares[column] += value * value;
                squares.push(f64::from(rows[lag * width + column] - rows[column]).powi(2));
            }
            lags.push((lag * lag) as f64);
        }
        let n = lags.len().max(1) as f64;
        let deviation = |(sum, squares): (&f64, &f64)| (squares / n - (sum / n).powi(2)).max(0.0).sqrt();
        let deviations = sums.iter().zip(&sums_of_squares).map(deviation).collect();
        Self { width, squares, lags, deviations }
    }

    /// Returns the weight of every column, by non-negative regression of the squared lag with an
    /// intercept.
    pub fn regress(&self) -> Vec<f64> {
        let width = self.width;
        // The intercept is the difference of the last two coefficients, which are not negative.
        let n = width + 2;
        let (mut gram, mut moment) = (vec![0.0; n * n], vec![0.0; n]);
        let mut terms = vec![0.0; n];
        (terms[width], terms[width + 1]) = (1.0, -1.0);
        for (squares, &lag) in self.squares.chunks_exact(width).zip(&self.lags) {
            terms[..width].copy_from_slice(squares);
            for i in 0..n {
                moment[i] += terms[i] * lag;
                for j in 0..n {
                    gram[i * n + j] += terms[i] * terms[j];
                }
            }
        }
        // The intercept's column is 1 for every pair, so its products are sums.
        let n_pairs = gram[width * n + width];
        let mean_squares: Vec<f64> = (0..width).map(|column| gram[column * n + width] / n_pairs).collect();
        let mean_lag_squared = moment[width] / n_pairs;
        // With columns of equal norm, coordinate descent needs few sweeps.
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
        weights
    }

    /// Returns the columns that change slowly, each with the weight of its speed limit, `1 / v^2`.
    pub fn slow_columns(&self) -> impl Iterator<Item = (usize, f64)> {
        (0..self.width).filter_map(|column| {
            let longest = |(_, lag): &(usize, &f64)| **lag == (MAX_LAG * MAX_LAG) as f64;
            let pairs = self.lags.iter().enumerate().filter(longest);
            let mut squares: Vec<f64> =
                pairs.map(|(pair, _)| self.squares[pair * self.width + column]).collect();
            let fastest = at_quantile(&mut squares, FASTEST, f64::total_cmp)?;
            let limit = fastest.sqrt() / MAX_LAG as f64;
            (limit > 0.0 && self.deviations[column] > SLOW_STEPS * limit).then(|| (column, limit.powi(-2)))
        })
    }

    /// Returns the factor that makes these weights fit the lag, by regression with an intercept.
    pub fn scale_of(&self, weights: &[f64]) -> f64 {
        let hop = |squares: &[f64]| squares.iter().zip(weights).map(|(square, weight)| square * weight).sum();
        let hops: Vec<f64> = self.squares.chunks_exact(self.width).map(hop).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (mean_hop, mean_lag) = (mean(&hops), mean(&self.lags));
        let moments = hops.iter().zip(&self.lags).map(|(hop, lag)| {
            let off = hop - mean_hop;
            (off * (lag - mean_lag), off * off)
        });
        let (covariance, variance) = moments.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if covariance > 0.0 { covariance / variance } else { 1.0 }
    }
}
