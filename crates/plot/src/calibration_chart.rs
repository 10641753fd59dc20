//! Predicted against observed steps.

use crate::{
    LineChart, Panel, Series,
    series::{by_dataset, panel_title},
};
use isochrone_core::statistics;
use isochrone_eval::calibration::Pairs;

/// Bins of a chart, by observed steps.
const BINS: usize = 12;
/// A bin of fewer pairs is not drawn.
const MIN_PAIRS: usize = 20;

/// Pairs of observed and predicted steps of one run or method.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CalibrationSeries {
    /// The name in the legend.
    pub name: String,
    /// The dataset that the states are from; each dataset has a panel.
    pub dataset: String,
    /// Observed and predicted steps; empty if there is no distance.
    pub pairs: Pairs,
}

/// Draws predicted against observed steps, a panel for each dataset: the median of each bin and its
/// middle half, with a gray diagonal where both are equal. `x_axis` names the observed steps. The
/// note lists series without pairs.
pub fn calibration_chart(title: &str, x_axis: &str, series: &[CalibrationSeries]) -> LineChart {
    let is_finite = |(observed, predicted): &&(f64, f64)| observed.is_finite() && predicted.is_finite();
    let binned = |series: &CalibrationSeries, farthest: f64| {
        let mut drawn = Series { name: series.name.clone(), ..Series::default() };
        for bin in 0..BINS {
            let [low, high] = [bin, bin + 1].map(|edge| farthest * edge as f64 / BINS as f64);
            let is_inside = |pair: &&(f64, f64)| pair.0 > low && pair.0 <= high;
            let inside: Pairs = series.pairs.iter().filter(is_finite).filter(is_inside).copied().collect();
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
    let (present, missing): (Vec<_>, Vec<_>) =
        series.iter().cloned().partition(|series| !series.pairs.is_empty());
    let datasets = by_dataset(&present, |series| &series.dataset);
    let n_datasets = datasets.len();
    let panel = |(dataset, of_dataset): (&str, Vec<&CalibrationSeries>)| {
        let shown = of_dataset.iter().flat_map(|series| &series.pairs).filter(is_finite);
        let farthest = shown.map(|pair| pair.0).fold(0.0, f64::max);
        let points = vec![(0.0, 0.0), (farthest, farthest)];
        Panel {
            title: panel_title("predicted steps", dataset, n_datasets),
            series: of_dataset.into_iter().map(|series| binned(series, farthest)).collect(),
            references: vec![Series { name: "predicted = observed".into(), points, ..Series::default() }],
        }
    };
    let mut note = "Lines: medians; bands: the middle half of the pairs.".to_owned();
    if !missing.is_empty() {
        let names: Vec<String> = missing.into_iter().map(|series| series.name).collect();
        note += &format!(" No distance: {}.", names.join(", "));
    }
    LineChart {
        title: title.to_owned(),
        note,
        x_axis: x_axis.to_owned(),
        has_own_x: true,
        panels: datasets.into_iter().map(panel).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, dataset: &str, n: u32) -> CalibrationSeries {
        let pairs = (0..n).map(|k| (f64::from(k % 40), f64::from(k % 37))).collect();
        CalibrationSeries { name: name.into(), dataset: dataset.into(), pairs }
    }

    #[test]
    fn the_diagonal_is_a_reference_and_not_a_run() {
        let chart = calibration_chart("t", "observed steps", &[series("cmd1", "walks", 4000)]);
        let [panel] = &chart.panels[..] else { panic!("one dataset, one panel") };
        assert_eq!(panel.title, "predicted steps");
        assert_eq!(panel.series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>(), ["cmd1"]);
        assert_eq!(panel.references[0].name, "predicted = observed");
        assert_eq!(panel.references[0].points, [(0.0, 0.0), (39.0, 39.0)]);
        assert!(chart.draw().svg().contains("stroke-dasharray=\"5 4\""));
    }

    #[test]
    fn a_method_without_a_distance_is_listed() {
        let chart = calibration_chart("t", "x", &[series("cmd1", "walks", 4000), series("gcbc", "walks", 0)]);
        assert!(chart.note.contains("No distance: gcbc."), "{}", chart.note);
        assert!(chart.draw().svg().contains("No distance: gcbc."));
    }

    #[test]
    fn datasets_have_panels_of_their_own() {
        let chart = calibration_chart("t", "x", &[series("a", "walks", 4000), series("b", "ring", 4000)]);
        let titles: Vec<&str> = chart.panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["predicted steps: walks", "predicted steps: ring"]);
    }
}
