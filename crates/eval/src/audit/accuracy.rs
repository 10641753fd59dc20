//! Accuracy of readings compared with exact distances.

use isochrone_core::statistics::{median, spearman};

/// Relative errors include only pairs with a larger exact distance, in steps: at one step, rounding
/// to a grid dominates the error.
const MIN_TRUTH: f64 = 2.0;

/// The agreement of readings with exact steps, over pairs of states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// The number of pairs connected by a path.
    pub pairs: usize,
    /// The fraction of these pairs without a finite reading.
    pub unreached: f64,
    /// Spearman's rank correlation.
    pub spearman: f64,
    /// The median of |reading - truth| / truth.
    pub median_relative_error: f64,
    /// The fraction of readings within 25 % of the truth; readings that are not finite count as
    /// outside.
    pub within_25_percent: f64,
    /// The median of reading / truth.
    pub median_ratio: f64,
}

impl Accuracy {
    /// Compares readings with exact steps, pair by pair; pairs without a path are left out.
    pub fn of(readings: &[f64], truth: &[f64]) -> Self {
        let pairs: Vec<(f64, f64)> = readings
            .iter()
            .copied()
            .zip(truth.iter().copied())
            .filter(|(_, truth)| truth.is_finite())
            .collect();
        let finite: Vec<(f64, f64)> =
            pairs.iter().copied().filter(|(reading, _)| reading.is_finite()).collect();
        let (read, exact): (Vec<f64>, Vec<f64>) = finite.iter().copied().unzip();
        let far = |pairs: &[(f64, f64)]| -> Vec<f64> {
            let far = pairs.iter().filter(|(_, truth)| *truth > MIN_TRUTH);
            far.map(|(reading, truth)| reading / truth).collect()
        };
        let (ratios, all_ratios) = (far(&finite), far(&pairs));
        let errors: Vec<f64> = all_ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect();
        let within = errors.iter().filter(|error| **error <= 0.25).count();
        Self {
            pairs: pairs.len(),
            unreached: 1.0 - finite.len() as f64 / pairs.len() as f64,
            spearman: spearman(&read, &exact),
            within_25_percent: within as f64 / errors.len() as f64,
            median_relative_error: median(errors),
            median_ratio: median(ratios),
        }
    }
}

/// Returns the median reading of pairs that are `steps` apart, within 10 % or half a step; `None`
/// if there are fewer than five.
pub fn median_near(readings: &[f64], truth: &[f64], steps: f64) -> Option<f64> {
    let near = |truth: &f64| (truth - steps).abs() <= (0.1 * steps).max(0.5);
    let readings: Vec<f64> =
        readings.iter().zip(truth).filter(|(_, truth)| near(truth)).map(|(reading, _)| *reading).collect();
    (readings.len() >= 5).then(|| median(readings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_and_missing_readings_count_as_errors() {
        let truth = [1.0, 10.0, 20.0, 40.0, f64::INFINITY];
        let found = Accuracy::of(&[9.0, 11.0, 24.0, f64::INFINITY, 3.0], &truth);
        assert_eq!((found.pairs, found.unreached), (4, 0.25));
        assert!((found.median_relative_error - 0.2).abs() < 1e-12, "{found:?}");
        assert!((found.within_25_percent - 2.0 / 3.0).abs() < 1e-12, "{found:?}");
        assert!((found.median_ratio - 1.15).abs() < 1e-12, "{found:?}");
        assert_eq!(found.spearman, 1.0);
        assert_eq!(
            median_near(&[1.0, 2.0, 3.0, 4.0, 5.0, 99.0], &[10.0, 10.5, 9.5, 10.0, 11.0, 12.0], 10.0),
            Some(3.0)
        );
        assert_eq!(median_near(&[1.0], &[10.0], 10.0), None);
    }
}
