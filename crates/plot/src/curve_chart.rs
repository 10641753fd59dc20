//! Means of groups of runs over training.

use crate::{LineChart, Panel, Series};
use isochrone_eval::stats::{RESAMPLES, bootstrap, mean};
use std::collections::BTreeMap;

/// Curves of runs that belong together, such as those of one method: `(step, value)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CurveGroup {
    /// What the legend calls it.
    pub name: String,
    /// One for each seed.
    pub curves: Vec<Vec<(u64, f64)>>,
}

/// Means of groups over training, with intervals of 95 % from the bootstrap over runs where there are several.
pub fn curve_chart(title: &str, measure: &str, groups: &[CurveGroup]) -> LineChart {
    let means = |group: &CurveGroup| {
        let mut at_step: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for &(step, value) in group.curves.iter().flatten() {
            at_step.entry(step).or_default().push(value);
        }
        let mut drawn = Series { name: group.name.clone(), ..Series::default() };
        for (step, values) in at_step {
            drawn.points.push((step as f64, mean(&values)));
            // One run says nothing about others.
            if group.curves.len() > 1 {
                let estimate = bootstrap(&[values], mean, RESAMPLES, step);
                drawn.band.push((estimate.low, estimate.high));
            }
        }
        drawn
    };
    let series: Vec<Series> = groups.iter().map(means).collect();
    let has_bands = series.iter().any(|series| !series.band.is_empty());
    let note = has_bands.then_some("Means over seeds; bands: 95 % intervals of the bootstrap over seeds.");
    LineChart {
        title: title.to_owned(),
        note: note.unwrap_or_default().to_owned(),
        x_axis: "training steps".into(),
        panels: vec![Panel { title: measure.to_owned(), series }],
    }
}
