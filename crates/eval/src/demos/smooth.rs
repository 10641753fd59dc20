//! Running medians.

use isochrone_core::statistics::median;

/// Returns the median of the `2 * half + 1` values around each value; fewer at the ends. NaN are
/// ignored, and remain NaN.
pub(super) fn running_median(values: &[f64], half: usize) -> Vec<f64> {
    let around = |at: usize| {
        if values[at].is_nan() {
            return f64::NAN;
        }
        let near = &values[at.saturating_sub(half)..(at + half + 1).min(values.len())];
        median(near.iter().copied().filter(|value| !value.is_nan()).collect())
    };
    (0..values.len()).map(around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_removed_and_missing_values_stay_missing() {
        let smooth = running_median(&[1.0, 2.0, 90.0, 4.0, 5.0, f64::NAN, 7.0], 1);
        assert_eq!(&smooth[..5], &[1.5, 2.0, 4.0, 5.0, 4.5]);
        assert!(smooth[5].is_nan() && smooth[6] == 7.0);
    }
}
