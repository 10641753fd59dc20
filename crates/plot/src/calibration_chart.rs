//! Predicted against true steps.

use crate::{LineChart, Panel, Series};
use isochrone_core::statistics;
use isochrone_eval::calibration::Pairs;

/// Bins of a chart, by true steps.
const BINS: usize = 12;
/// A bin of fewer pairs is not drawn.
const MIN_PAIRS: usize = 20;

/// Predicted against true steps: the median of a bin and its middle half, beside the line where both are equal.
pub fn calibration_chart(title: &str, truth: &str, series: &[(String, Pairs)]) -> LineChart {
    let is_finite = |(truth, predicted): &&(f64, f64)| truth.is_finite() && predicted.is_finite();
    let shown = series.iter().flat_map(|(_, pairs)| pairs).filter(is_finite);
    let farthest = shown.map(|pair| pair.0).fold(0.0, f64::max);
    let binned = |(name, pairs): &(String, Pairs)| {
        let mut drawn = Series { name: name.clone(), ..Series::default() };
        for bin in 0..BINS {
            let [low, high] = [bin, bin + 1].map(|edge| farthest * edge as f64 / BINS as f64);
            let is_inside = |pair: &&(f64, f64)| pair.0 > low && pair.0 <= high;
            let inside: Pairs = pairs.iter().filter(is_finite).filter(is_inside).copied().collect();
            if inside.len() < MIN_PAIRS {
                continue;
            }
            let mut predicted: Vec<f64> = inside.iter().map(|pair| pair.1).collect();
            predicted.sort_by(f64::total_cmp);
            let middle = inside.iter().map(|pair| pair.0).sum::<f64>() / inside.len() as f64;
            drawn.points.push((middle, statistics::median(predicted.clone())));
            drawn.band.push((predicted[predicted.len() / 4], predicted[predicted.len() * 3 / 4]));
        }
        drawn
    };
    let line = vec![(0.0, 0.0), (farthest, farthest)];
    let equal = Series { name: "equal".into(), points: line, ..Series::default() };
    let drawn = series.iter().map(binned).chain([equal]).collect();
    LineChart {
        title: title.to_owned(),
        note: "Lines: medians; bands: the middle half of the pairs.".into(),
        x_axis: truth.to_owned(),
        panels: vec![Panel { title: "predicted steps".into(), series: drawn }],
    }
}
