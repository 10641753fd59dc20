//! Heights of values on a linear or logarithmic axis.

use crate::{
    axis::{Axis, is_drawable, with_room},
    scale,
};

/// Room above and below the values, as a share of their range.
const ROOM: f64 = 0.06;

/// How values become heights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum YScale {
    /// Equal differences are equally high.
    #[default]
    Linear,
    /// Equal ratios are equally high. Values that are not positive cannot be shown and are gaps.
    Log,
}

impl YScale {
    /// Where a value lies on the axis: itself, or its decimal logarithm. `None` if it lies nowhere.
    pub(super) fn height(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear => is_drawable(value).then_some(value),
            Self::Log => (value > 0.0 && is_drawable(value)).then(|| value.log10()),
        }
    }

    /// The range of an axis that shows heights within `limits`.
    pub(super) fn range(self, (low, high): (f64, f64)) -> (f64, f64) {
        match self {
            Self::Linear => with_room((low, high), ROOM),
            Self::Log => {
                // A single value is shown within a decade.
                let room = if high - low < 1e-9 { 0.5 } else { ROOM * (high - low) };
                (low - room, high + room)
            }
        }
    }

    /// Heights of about `parts` round values, with their labels.
    pub(super) fn ticks(self, axis: &Axis, parts: usize) -> Vec<(f64, String)> {
        let (values, height): (_, fn(f64) -> f64) = match self {
            Self::Linear => (linear_ticks(axis, parts), |value| value),
            Self::Log => (log_ticks(axis, parts), f64::log10),
        };
        let labels = scale::short_labels(&values);
        values.into_iter().map(height).zip(labels).collect()
    }
}

fn linear_ticks(axis: &Axis, parts: usize) -> Vec<f64> {
    axis.multiples(scale::round_interval(axis.high - axis.low, parts, 0.0))
}

fn log_ticks(axis: &Axis, parts: usize) -> Vec<f64> {
    let decades = axis.high - axis.low;
    let is_inside = |value: &f64| (axis.low..=axis.high).contains(&value.log10());
    if decades < 0.7 {
        // Too short for 1-2-5: round numbers, which just lie at uneven distances.
        let values = Axis { low: 10f64.powf(axis.low), high: 10f64.powf(axis.high), ..*axis };
        return linear_ticks(&values, parts);
    }
    let exponents = axis.low.floor() as i32..=axis.high.ceil() as i32;
    let factors: &[f64] = if decades < 0.5 * parts as f64 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (decades / parts as f64).ceil().max(1.0) as i32;
    exponents
        .filter(|exponent| exponent % every == 0)
        // Parsed, not multiplied: 2e-5 is then the nearest number to it.
        .flat_map(|exponent| factors.iter().filter_map(move |f| format!("{f}e{exponent}").parse().ok()))
        .filter(is_inside)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: YScale, low: f64, high: f64) -> String {
        let height = |value: f64| scale.height(value).unwrap();
        let (low, high) = scale.range((height(low), height(high)));
        let ticks = scale.ticks(&Axis { low, high, from: 100.0, to: 0.0 }, 5);
        assert!(ticks.iter().all(|(tick, _)| (low..=high).contains(tick)));
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(labels(YScale::Linear, 0.0, 1.0), "0 0.5 1");
        assert_eq!(labels(YScale::Linear, -3e5, -1e5), "-300k -250k -200k -150k -100k");
        assert_eq!(labels(YScale::Linear, 7.0, 7.0), "6.5 7 7.5");
        assert_eq!(labels(YScale::Log, 0.1, 10.0), "0.1 0.2 0.5 1 2 5 10");
        assert_eq!(labels(YScale::Log, 1e-9, 1e9), "1e-10 1e-5 1 100k 10G");
        assert_eq!(labels(YScale::Log, 7.0, 9.0), "7 7.5 8 8.5 9");
        assert_eq!(labels(YScale::Log, 4.0, 4.0), "2 5 10");
    }

    #[test]
    fn what_has_no_height_is_a_gap() {
        assert_eq!(YScale::Log.height(-1.0).or(YScale::Log.height(0.0)), None);
        for scale in [YScale::Linear, YScale::Log] {
            assert!([f64::NAN, f64::INFINITY, f64::MAX].iter().all(|&value| scale.height(value).is_none()));
        }
    }

    #[test]
    fn extreme_ranges_have_ticks() {
        for scale in [YScale::Linear, YScale::Log] {
            assert!(!labels(scale, 1e-300, 1e300).is_empty());
            assert!(!labels(scale, 1.0, 1.0 + 1e-8).is_empty());
        }
        assert!(!labels(YScale::Linear, -1e300, 1e300).is_empty());
    }
}
