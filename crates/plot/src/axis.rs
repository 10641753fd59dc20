//! Axes: positions of values in a figure.

use crate::scale;

/// The largest magnitude on an axis: differences of larger numbers may not be finite.
const LARGEST: f64 = 1e300;

/// The range of an axis, and the positions of both ends in the figure.
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

    /// Returns about six round numbers, at least `least` apart.
    pub(super) fn ticks(&self, least: f64) -> Vec<f64> {
        self.multiples(scale::round_interval(self.high - self.low, 6, least))
    }

    /// Returns the multiples of `interval` on the axis.
    pub(super) fn multiples(&self, interval: f64) -> Vec<f64> {
        let first = (self.low / interval).ceil();
        (0..20).map(|k| (first + f64::from(k)) * interval).take_while(|tick| *tick <= self.high).collect()
    }
}

/// Whether a number is finite and small enough for an axis.
pub(super) fn is_drawable(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// The smallest and the largest of some numbers; `None` without numbers.
pub(super) fn limits(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().fold(None, |limits, value| {
        let (low, high) = limits.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// Adds a margin of a share of the range on both sides; a single value has a range around it.
pub(super) fn with_room((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let magnitude = low.abs().max(high.abs());
    // Below this, labels would need more digits than a number has.
    let is_single = high - low <= 1e-9 * magnitude || magnitude < 1e-290;
    let room = match is_single {
        true if magnitude < 1e-290 => 1.0,
        true => 0.1 * magnitude,
        false => share * (high - low),
    };
    // The axis of a quantity that is never negative has no negative part, and likewise for positive
    // values.
    let (floor, cap) = match (low >= 0.0, high <= 0.0) {
        (true, _) => (0.0, f64::INFINITY),
        (false, true) => (f64::NEG_INFINITY, 0.0),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    ((low - room).max(floor), (high + room).min(cap))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_a_margin_without_a_change_of_sign() {
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
