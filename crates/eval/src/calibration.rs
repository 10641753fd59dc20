//! Calibration of distances to observed steps.
//!
//! A contrastive distance measures how likely a state is to be visited, not how long the path to it
//! is: where the behavior policy wanders, even nearby states appear far. It is calibrated on pairs
//! of states of one episode that are a known number of steps apart.

use isochrone_core::{Discount, LatentDistance, LatentMetric, TemporalDistance, rng};
use isochrone_data::Dataset;
use rayon::prelude::*;
use std::sync::Arc;

/// Offsets, in observed steps, at which predictions are compared.
const OFFSETS: [usize; 10] = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64];
/// The number of pairs of states sampled at each offset.
pub const PAIRS_PER_OFFSET: usize = 2000;
/// An offset with fewer pairs is not used.
const MIN_PAIRS: usize = 20;
/// The relative increase over the previous offset that a prediction needs to become a knot.
const MIN_RISE: f32 = 0.02;
/// The number of values that one task maps.
const PARALLEL_VALUES: usize = 1 << 14;
/// The quantile of the predictions at an offset that is used. It is high, because most of the time
/// the behavior policy takes detours or waits.
const QUANTILE: f64 = 0.9;

/// Observed and predicted steps of pairs of states.
pub type Pairs = Vec<(f64, f64)>;

/// Samples pairs of states of one episode, `[n, width]` twice, and the steps between them:
/// `offset`, or random if `None`. Pairs that exceed their episode are dropped. `below(n)` samples
/// from `0..n`.
fn sample_pairs(
    data: &Dataset,
    n: usize,
    offset: Option<usize>,
    below: &mut dyn FnMut(usize) -> usize,
) -> (Vec<f32>, Vec<f32>, Vec<usize>) {
    let (index, width) = (data.index(), data.spec().observation.width);
    let (mut from, mut to, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let (episode, row) = index.row_of_transition(below(index.n_transitions() as usize) as u64);
        let left = index.steps(episode) - row;
        let ahead = offset.unwrap_or_else(|| 1 + below(left));
        if ahead <= left {
            let view = data.episode(episode);
            from.extend(&view.observations[row * width..][..width]);
            to.extend(&view.observations[(row + ahead) * width..][..width]);
            steps.push(ahead);
        }
    }
    (from, to, steps)
}

/// Samples pairs of states of one episode, and returns the observed and the predicted steps between
/// them.
pub fn observed_pairs(distance: &dyn TemporalDistance, data: &Dataset, n: usize, seed: u64) -> Pairs {
    let mut random = rng::stream(seed, 1);
    let (from, to, observed) = sample_pairs(data, n, None, &mut |bound| rng::below(&mut random, bound));
    let predicted = distance.paired_steps(&from, &to).expect("observations are complete states");
    observed.into_iter().map(|steps| steps as f64).zip(predicted).collect()
}

/// An increasing, piecewise linear map from predicted to observed nats. Beyond the last knot, the
/// last slope continues.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Predicted and observed nats; both increase from `(0, 0)`.
    knots: Vec<(f32, f32)>,
}

impl Calibration {
    /// Fits to predictions, in nats, for pairs of states at each observed offset, in steps. Offsets
    /// whose prediction does not exceed that of smaller offsets are left out, because the distance
    /// does not distinguish them.
    pub fn fit(predicted: &[(usize, Vec<f32>)], discount: Discount) -> Self {
        let mut knots = vec![(0.0, 0.0)];
        for (steps, nats) in predicted {
            let Some(typical) = quantile(nats, QUANTILE) else { continue };
            let (last, _) = knots[knots.len() - 1];
            if typical > last * (1.0 + MIN_RISE) && typical.is_finite() {
                knots.push((typical, *steps as f32 * discount.nats_per_step() as f32));
            }
        }
        Self { knots }
    }

    /// Returns the observed nats for predicted nats.
    pub fn observed(&self, predicted: f32) -> f32 {
        let knots = &self.knots;
        if knots.len() < 2 || predicted.is_nan() {
            return predicted;
        }
        let after = knots.partition_point(|(knot, _)| *knot < predicted).clamp(1, knots.len() - 1);
        let ((x0, y0), (x1, y1)) = (knots[after - 1], knots[after]);
        y0 + (predicted - x0) * (y1 - y0) / (x1 - x0)
    }

    fn observed_all(&self, mut nats: Vec<f32>) -> Vec<f32> {
        nats.par_chunks_mut(PARALLEL_VALUES)
            .for_each(|nats| nats.iter_mut().for_each(|nats| *nats = self.observed(*nats)));
        nats
    }
}

fn quantile(values: &[f32], share: f64) -> Option<f32> {
    let mut values = values.to_vec();
    values.sort_by(f32::total_cmp);
    values.get(((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1))).copied()
}

/// A distance with a calibration applied.
pub struct Calibrated<D> {
    distance: D,
    calibration: Calibration,
}

impl<D: TemporalDistance> Calibrated<D> {
    /// Calibrates a distance to the steps observed in a dataset.
    pub fn fit(distance: D, data: &Dataset, seed: u64) -> Self {
        let mut random = rng::stream(seed, 2);
        let at_offset = |ahead: usize| {
            let below = &mut |bound| rng::below(&mut random, bound);
            let (from, to, _) = sample_pairs(data, PAIRS_PER_OFFSET, Some(ahead), below);
            (ahead, distance.paired_nats(&from, &to))
        };
        let predicted = OFFSETS.into_iter().map(at_offset).filter(|(_, nats)| nats.len() >= MIN_PAIRS);
        let calibration = Calibration::fit(&predicted.collect::<Vec<_>>(), distance.discount());
        Self { distance, calibration }
    }

    fn apply(&self, nats: Vec<f32>) -> Vec<f32> {
        self.calibration.observed_all(nats)
    }
}

impl<D: TemporalDistance> TemporalDistance for Calibrated<D> {
    fn width(&self) -> usize {
        self.distance.width()
    }

    fn discount(&self) -> Discount {
        self.distance.discount()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.apply(self.distance.paired_nats(from, to))
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.apply(self.distance.all_pairs_nats(from, to))
    }

    fn as_latent(&self) -> Option<&dyn LatentDistance> {
        self.distance.as_latent().map(|_| self as &dyn LatentDistance)
    }
}

impl<D: TemporalDistance> LatentDistance for Calibrated<D> {
    fn embed(&self, rows: &[f32]) -> Vec<f32> {
        self.distance.as_latent().expect("`as_latent` checks it").embed(rows)
    }

    fn metric(&self) -> Arc<dyn LatentMetric> {
        let metric = self.distance.as_latent().expect("`as_latent` checks it").metric();
        Arc::new(CalibratedMetric { metric, calibration: self.calibration.clone() })
    }
}

/// A distance between latent rows with a calibration applied.
struct CalibratedMetric {
    metric: Arc<dyn LatentMetric>,
    calibration: Calibration,
}

impl LatentMetric for CalibratedMetric {
    fn width(&self) -> usize {
        self.metric.width()
    }

    fn nats(&self, from: &[f32], to: &[f32]) -> f32 {
        self.calibration.observed(self.metric.nats(from, to))
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.calibration.observed_all(self.metric.all_pairs_nats(from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_become_observed_steps() {
        let discount = Discount::new(0.9).unwrap();
        let unit = discount.nats_per_step() as f32;
        // Predictions are ten times the square root of the truth; at 16 they no longer increase.
        let predicted: Vec<(usize, Vec<f32>)> =
            [1usize, 4, 9].iter().map(|&steps| (steps, vec![10.0 * (steps as f32).sqrt(); 3])).collect();
        let calibration = Calibration::fit(&[&predicted[..], &[(16, vec![29.0])]].concat(), discount);
        for (nats, steps) in [(0.0, 0.0), (10.0, 1.0), (20.0, 4.0), (25.0, 6.5), (30.0, 9.0), (40.0, 14.0)] {
            let observed = calibration.observed(nats) / unit;
            assert!((observed - steps).abs() < 1e-4, "{nats} is {observed}");
        }
        assert!(calibration.observed(f32::NAN).is_nan());
        assert_eq!(calibration.observed(f32::INFINITY), f32::INFINITY);
    }
}
