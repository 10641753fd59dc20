//! An HTML report on one run, or on several side by side.

use crate::{CurveGroup, Figure, calibration_chart, curve_chart, html::Page};
use isochrone_eval::calibration::Pairs;
use std::collections::HashSet;

/// What a report says of a run.
#[derive(Debug, Clone, Default)]
pub struct RunSummary {
    /// What the run is called.
    pub name: String,
    /// The algorithm.
    pub algorithm: String,
    /// Further facts, `(column, value)`; the same columns for every run.
    pub facts: Vec<(&'static str, String)>,
    /// Metrics over training, `(name, [(step, value)])`.
    pub curves: Vec<(String, Vec<(u64, f64)>)>,
    /// Observed and predicted steps, if the run has a distance.
    pub calibration: Option<Pairs>,
    /// The configuration as text.
    pub config: String,
}

/// Tables, curves, calibration and maps of runs. `maps` are further figures with captions; `provenance` is the last line.
pub fn run_report(runs: &[RunSummary], maps: &[(Figure, String)], provenance: &str) -> Page {
    let title = match runs {
        [run] => format!("{}: {}", run.name, run.algorithm),
        _ => format!("{} runs", runs.len()),
    };
    let mut page = Page::new(&title);
    let facts = runs.first().map_or(&[][..], |run| &run.facts);
    let columns = ["run", "algorithm"].into_iter().chain(facts.iter().map(|(column, _)| *column));
    let columns: Vec<String> = columns.map(str::to_owned).collect();
    let row = |run: &RunSummary| {
        let facts = run.facts.iter().map(|(_, value)| value.clone());
        [run.name.clone(), run.algorithm.clone()].into_iter().chain(facts).collect()
    };
    page.table(&columns, &runs.iter().map(row).collect::<Vec<_>>());
    page.heading("Training");
    let mut seen = HashSet::new();
    let measures = runs.iter().flat_map(|run| &run.curves).map(|(measure, _)| measure);
    for measure in measures.filter(|&measure| seen.insert(measure)) {
        let group = |run: &RunSummary| {
            let (_, curve) = run.curves.iter().find(|(name, curve)| name == measure && !curve.is_empty())?;
            Some(CurveGroup { name: run.name.clone(), curves: vec![curve.clone()] })
        };
        let groups: Vec<CurveGroup> = runs.iter().filter_map(group).collect();
        page.figure(&curve_chart(&measure.replace('_', " "), "", &groups).draw(), "");
    }
    let calibrations: Vec<(String, Pairs)> =
        runs.iter().filter_map(|run| Some((run.name.clone(), run.calibration.clone()?))).collect();
    if !calibrations.is_empty() {
        page.heading("Calibration");
        let chart = calibration_chart("Predicted against observed steps", "observed steps", &calibrations);
        let caption = "Pairs of states of one episode. A suboptimal behavior policy takes more steps than needed, so the distance of the best policy lies below the line.";
        page.figure(&chart.draw(), caption);
    }
    if !maps.is_empty() {
        page.heading("Maps");
    }
    for (figure, caption) in maps {
        page.figure(figure, caption);
    }
    if let [run] = runs {
        page.heading("Configuration");
        page.code(&run.config);
    }
    page.paragraph(provenance);
    page
}
