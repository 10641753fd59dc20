//! Means of groups of runs over training.

use crate::{
    LineChart, Panel, Series,
    series::{by_dataset, panel_title},
};
use isochrone_eval::stats::{RESAMPLES, bootstrap, mean};
use std::collections::BTreeMap;

/// An interval needs at least this many seeds.
pub const MIN_SEEDS: usize = 3;

/// The curves of runs that differ only in their seeds, such as those of one method.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CurveGroup {
    /// The name in the legend.
    pub name: String,
    /// The dataset that the runs learned from; each dataset has a panel.
    pub dataset: String,
    /// The curve of each seed: `(step, value)`. Empty if the metric was not measured.
    pub curves: Vec<Vec<(u64, f64)>>,
}

impl CurveGroup {
    fn n_seeds(&self) -> usize {
        self.curves.iter().filter(|curve| !curve.is_empty()).count()
    }
}

/// Draws the means of groups over training, a panel for each dataset, with 95 % bootstrap intervals
/// over seeds where there are at least [`MIN_SEEDS`]. The legend states the number of seeds, and
/// the note lists groups without data.
pub fn curve_chart(title: &str, metric: &str, groups: &[CurveGroup]) -> LineChart {
    let has_seeds = groups.iter().any(|group| group.n_seeds() > 1);
    let means = |group: &CurveGroup| {
        let mut at_step: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for &(step, value) in group.curves.iter().flatten() {
            at_step.entry(step).or_default().push(value);
        }
        let name = match has_seeds {
            true => format!("{} (n = {})", group.name, group.n_seeds()),
            false => group.name.clone(),
        };
        let mut drawn = Series { name, ..Series::default() };
        for (step, values) in at_step {
            drawn.points.push((step as f64, mean(&values)));
            if group.n_seeds() >= MIN_SEEDS {
                // Where fewer seeds were evaluated, the band has a gap.
                let has_interval = values.len() >= MIN_SEEDS;
                let estimate = has_interval.then(|| bootstrap(&[values], mean, RESAMPLES, step));
                drawn
                    .band
                    .push(estimate.map_or((f64::NAN, f64::NAN), |estimate| (estimate.low, estimate.high)));
            }
        }
        drawn
    };
    let (present, missing): (Vec<_>, Vec<_>) = groups.iter().cloned().partition(|group| group.n_seeds() > 0);
    let datasets = by_dataset(&present, |group| &group.dataset);
    let n_datasets = datasets.len();
    let panel = |(dataset, of_dataset): (&str, Vec<&CurveGroup>)| Panel {
        title: panel_title(metric, dataset, n_datasets),
        series: of_dataset.into_iter().map(means).collect(),
        ..Panel::default()
    };
    let panels: Vec<Panel> = datasets.into_iter().map(panel).collect();
    let has_bands = panels.iter().flat_map(|panel| &panel.series).any(|series| !series.band.is_empty());
    let mut notes = Vec::new();
    if has_seeds {
        notes.push("Lines: means over n seeds.".to_owned());
    }
    if has_bands {
        notes.push(format!("Bands: 95 % bootstrap intervals over seeds, for n >= {MIN_SEEDS}."));
    }
    if !missing.is_empty() {
        let names: Vec<String> = missing.into_iter().map(|group| group.name).collect();
        notes.push(format!("Not measured: {}.", names.join(", ")));
    }
    LineChart {
        title: title.to_owned(),
        note: notes.join(" "),
        x_axis: "training steps".into(),
        panels,
        ..LineChart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, dataset: &str, seeds: u32) -> CurveGroup {
        let curve = |seed: u32| (1..=4).map(|k| (100 * k, f64::from(seed) + k as f64)).collect();
        CurveGroup { name: name.into(), dataset: dataset.into(), curves: (0..seeds).map(curve).collect() }
    }

    fn names(panel: &Panel) -> Vec<&str> {
        panel.series.iter().map(|series| series.name.as_str()).collect()
    }

    #[test]
    fn intervals_state_their_seeds_and_need_three() {
        let chart = curve_chart("t", "success", &[group("a", "d", 2), group("b", "d", 3)]);
        let [panel] = &chart.panels[..] else { panic!("one dataset, one panel") };
        assert_eq!(names(panel), ["a (n = 2)", "b (n = 3)"]);
        assert!(panel.series[0].band.is_empty() && panel.series[1].band.len() == 4);
        assert!(chart.note.contains("for n >= 3"), "{}", chart.note);
        let single = curve_chart("t", "success", &[group("a", "d", 1)]);
        assert_eq!((names(&single.panels[0]), single.note.as_str()), (vec!["a"], ""));
    }

    #[test]
    fn a_step_with_few_seeds_has_no_interval() {
        let mut group = group("a", "d", 3);
        group.curves[0].pop();
        let chart = curve_chart("t", "success", &[group]);
        let band = &chart.panels[0].series[0].band;
        assert!(band[..3].iter().all(|edges| edges.0.is_finite()) && band[3].0.is_nan());
        assert!(!chart.draw().svg().contains("NaN"));
    }

    #[test]
    fn groups_without_the_metric_are_listed() {
        let chart = curve_chart("t", "success", &[group("a", "d", 1), group("gcbc", "d", 0)]);
        assert_eq!((chart.panels[0].series.len(), chart.note.as_str()), (1, "Not measured: gcbc."));
    }

    #[test]
    fn datasets_have_panels_of_their_own() {
        let groups = [group("a", "walks", 1), group("a", "ring", 1), group("b", "walks", 1)];
        let chart = curve_chart("t", "success", &groups);
        let titles: Vec<&str> = chart.panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["success: walks", "success: ring"]);
        assert_eq!(names(&chart.panels[0]), ["a", "b"]);
    }
}
