//! Round numbers for axes and isochrones.

/// The number 1, 2 or 5 times a power of ten that splits `extent` into about `parts` parts; at least `least`.
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

/// A number with up to three decimals and without trailing zeros.
pub(super) fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Labels of the ticks of an axis in a common style: `200k` and `1M` if there are large numbers,
/// `2e-5` if all are small or some are much smaller than others.
pub(super) fn short_labels(ticks: &[f64]) -> Vec<String> {
    let magnitudes = || ticks.iter().map(|tick| tick.abs()).filter(|&magnitude| magnitude > 0.0);
    let largest = magnitudes().fold(0.0, f64::max);
    let smallest = magnitudes().fold(f64::INFINITY, f64::min);
    let are_small_far = largest < 1e-3 || smallest < 1e-3 * largest;
    let label = |&tick: &f64| {
        let magnitude = tick.abs();
        let unit =
            UNITS.iter().find(|(size, _)| magnitude >= *size * 0.999_999_999).filter(|_| largest >= 1e4);
        match unit {
            _ if magnitude >= 1e15 || (magnitude > 0.0 && magnitude < 1e-3 && are_small_far) => {
                format!("{:e}", without_noise(tick))
            }
            Some((size, letter)) => format!("{}{letter}", without_noise(tick / size)),
            None => without_noise(tick).to_string(),
        }
    };
    ticks.iter().map(label).collect()
}

/// Abbreviations of large numbers, largest first.
const UNITS: [(f64, char); 4] = [(1e12, 'T'), (1e9, 'G'), (1e6, 'M'), (1e3, 'k')];

/// Rounds to twelve digits: 0.3 instead of 0.30000000000000004. There is no negative zero.
fn without_noise(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value) + 0.0
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

    #[test]
    fn labels_of_an_axis_have_one_style() {
        let labels = |ticks: &[f64]| short_labels(ticks).join(" ");
        assert_eq!(labels(&[0.0, 5e3, 1e4]), "0 5k 10k");
        assert_eq!(labels(&[0.0, 5e5, 1e6, 1.5e6]), "0 500k 1M 1.5M");
        assert_eq!(labels(&[0.0, 2000.0, 8000.0]), "0 2000 8000");
        assert_eq!(labels(&[-0.2, -0.0, 0.1 + 0.2]), "-0.2 0 0.3");
        assert_eq!(labels(&[-2e4, 2e4]), "-20k 20k");
        assert_eq!(labels(&[0.0, 2e-5, 4e-5]), "0 2e-5 4e-5");
        assert_eq!(labels(&[5e-4, 1e-3, 1.5e-3]), "0.0005 0.001 0.0015");
        assert_eq!(labels(&[1e-6, 1e-3, 1.0, 1e3]), "1e-6 0.001 1 1000");
        assert_eq!(labels(&[1e18, 2e18]), "1e18 2e18");
        assert_eq!(labels(&[]), "");
    }
}
