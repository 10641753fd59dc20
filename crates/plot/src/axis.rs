//! From values to places on the page.

use crate::scale;

/// Differences of larger numbers may not be finite.
const LARGEST: f64 = 1e300;

/// The range of an axis and where its values are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Axis {
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = self.from + (self.to - self.from) * (value - self.low) / (self.high - self.low);
        (10.0 * place).round() / 10.0
    }

    /// About six round numbers, at least `least` apart.
    pub(super) fn ticks(&self, least: f64) -> Vec<f64> {
        self.multiples(scale::round_interval(self.high - self.low, 6, least))
    }

    /// Multiples of `interval` on the axis.
    pub(super) fn multiples(&self, interval: f64) -> Vec<f64> {
        let first = (self.low / interval).ceil();
        (0..20).map(|k| (first + f64::from(k)) * interval).take_while(|tick| *tick <= self.high).collect()
    }
}

/// Whether a number can lie on an axis.
pub(super) fn is_drawable(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// The least and the greatest of some numbers.
pub(super) fn limits(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().fold(None, |limits, value| {
        let (low, high) = limits.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// A range with room around its limits; around a single value, enough to see where it lies.
pub(super) fn with_room((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let magnitude = low.abs().max(high.abs());
    // Below this, labels would need more digits than a number has.
    let is_single = high - low <= 1e-9 * magnitude || magnitude < 1e-290;
    let room = match is_single {
        true if magnitude < 1e-290 => 1.0,
        true => 0.1 * magnitude,
        false => share * (high - low),
    };
    // What is never negative is not given a negative part of an axis, nor what is never positive a positive one.
    let (floor, ceiling) = match (low >= 0.0, high <= 0.0) {
        (true, _) => (0.0, f64::INFINITY),
        (false, true) => (f64::NEG_INFINITY, 0.0),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    ((low - room).max(floor), (high + room).min(ceiling))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_room_but_no_false_sign() {
        assert_eq!(with_room((10.0, 20.0), 0.1), (9.0, 21.0));
        assert_eq!(with_room((0.0, 1.0), 0.1), (0.0, 1.1));
        assert_eq!(with_room((-3.0, -0.5), 0.5), (-4.25, 0.0));
        assert_eq!(with_room((-1.0, 1.0), 0.1), (-1.2, 1.2));
    }

    #[test]
    fn a_single_value_has_a_range() {
        assert_eq!(with_room((0.0, 0.0), 0.1), (0.0, 1.0));
        assert_eq!(with_room((50.0, 50.0), 0.1), (45.0, 55.0));
        assert_eq!(with_room((-50.0, -50.0), 0.1), (-55.0, -45.0));
        let (low, high) = with_room((1.0, 1.0 + 1e-15), 0.1);
        assert!(high - low > 0.1);
    }

    #[test]
    fn limits_of_nothing_are_none() {
        assert_eq!(limits([]), None);
        assert_eq!(limits([2.0, -1.0, 3.0]), Some((-1.0, 3.0)));
    }
}
