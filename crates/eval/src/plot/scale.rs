//! Round numbers for axes and isochrones.

/// The 1-2-5 number that splits `extent` into about `parts` parts, never less than `least`.
pub(super) fn round_interval(extent: f64, parts: usize, least: f64) -> f64 {
    let raw = extent / parts as f64;
    if !(raw > least && raw.is_finite()) {
        return least;
    }
    let decade = 10f64.powf(raw.log10().floor());
    let factor =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * decade >= raw * 0.999).unwrap_or(10.0);
    factor * decade
}

/// Multiples of `interval` in `(0, extent)`.
pub(super) fn multiples(interval: f64, extent: f64) -> Vec<f64> {
    (1..1000).map(|k| f64::from(k) * interval).take_while(|&level| level < extent).collect()
}

/// A number without trailing zeros.
pub(super) fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_one_two_or_five() {
        assert_eq!(round_interval(88.0, 8, 1.0), 20.0);
        assert_eq!(round_interval(80.0, 8, 1.0), 10.0);
        assert_eq!(round_interval(4.0, 8, 1.0), 1.0);
        assert_eq!(round_interval(0.0, 8, 1.0), 1.0);
        assert_eq!(round_interval(f64::INFINITY, 8, 1.0), 1.0);
        assert_eq!(round_interval(3.1, 4, 0.001), 1.0);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!((label(20.0), label(0.25)), ("20".into(), "0.25".into()));
        assert_eq!(multiples(5.0, 16.0), vec![5.0, 10.0, 15.0]);
    }
}
