use isochrone_eval::{
    plot::{LineChart, Panel, Series},
    statistics::{RESAMPLES, bootstrap, mean},
};

/// Curves of runs that belong together, such as those of one method: `(step, value)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// What the legend calls it.
    pub name: String,
    /// One for each seed.
    pub curves: Vec<Vec<(u64, f64)>>,
}

/// Means of groups over training, with intervals of 95 % from the bootstrap over runs where there are several.
pub fn curve_chart(title: &str, measure: &str, groups: &[Group]) -> LineChart {
    let series = groups.iter().map(|group| {
        let mut steps: Vec<u64> = group.curves.iter().flatten().map(|point| point.0).collect();
        steps.sort_unstable();
        steps.dedup();
        let mut drawn = Series { name: group.name.clone(), ..Series::default() };
        for step in steps {
            let at =
                |curve: &Vec<(u64, f64)>| curve.iter().find(|point| point.0 == step).map(|point| point.1);
            let values: Vec<f64> = group.curves.iter().filter_map(at).collect();
            let estimate = bootstrap(&[values], mean, RESAMPLES, step);
            drawn.points.push((step as f64, estimate.value));
            drawn.band.push((estimate.low, estimate.high));
        }
        if group.curves.len() < 2 {
            drawn.band.clear();
        }
        drawn
    });
    let series: Vec<Series> = series.collect();
    let has_bands = series.iter().any(|series| !series.band.is_empty());
    LineChart {
        title: title.to_owned(),
        note: if has_bands {
            "Means over seeds; bands: 95 % intervals of the bootstrap over seeds.".into()
        } else {
            String::new()
        },
        x_axis: "training steps".into(),
        panels: vec![Panel { title: measure.to_owned(), series, ..Panel::default() }],
    }
}
