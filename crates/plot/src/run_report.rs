//! An HTML report of one run, or a comparison of several.

use crate::{CalibrationSeries, CurveGroup, Figure, calibration_chart, curve_chart, html::Page};
use isochrone_eval::calibration::Pairs;
use std::collections::{BTreeSet, HashSet};

/// The contents of a report about one run.
#[derive(Debug, Clone, Default)]
pub struct RunSummary {
    /// The name of the run.
    pub name: String,
    /// The algorithm.
    pub algorithm: String,
    /// The dataset that the run learned from: its name and hash.
    pub dataset: String,
    /// The day on which training started, as `YYYY-MM-DD`.
    pub date: String,
    /// The best evaluation; larger values are better.
    pub best: Option<BestEvaluation>,
    /// Further facts, `(column, value)`; the same columns for every run.
    pub facts: Vec<(&'static str, String)>,
    /// Metrics over training, `(name, [(step, value)])`.
    pub curves: Vec<(String, Vec<(u64, f64)>)>,
    /// Observed and predicted steps, if the run has a distance.
    pub calibration: Option<Pairs>,
    /// The configuration as text.
    pub config: String,
}

/// The best evaluation of a run during training.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BestEvaluation {
    /// The name of the metric.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// The training step.
    pub step: u64,
}

/// Builds a report with tables, curves, calibration and maps of runs. `date` is the day of the
/// report, `maps` are further figures with captions, and `provenance` is the last line.
pub fn run_report(runs: &[RunSummary], maps: &[(Figure, String)], date: &str, provenance: &str) -> Page {
    let algorithms: BTreeSet<&str> = runs.iter().map(|run| run.algorithm.as_str()).collect();
    let algorithms = algorithms.into_iter().collect::<Vec<_>>().join(", ");
    let title = match runs {
        [run] => format!("{}: {}", run.name, run.algorithm),
        _ => format!("{} runs: {algorithms}", runs.len()),
    };
    let mut page = Page::new(&title);
    page.subtitle(&subtitle(runs, date));
    for headline in headlines(runs) {
        page.headline(&headline);
    }
    let facts = runs.first().map_or(&[][..], |run| &run.facts);
    let columns = ["run", "algorithm", "dataset"].into_iter().chain(facts.iter().map(|(column, _)| *column));
    let columns: Vec<String> = columns.map(str::to_owned).collect();
    let row = |run: &RunSummary| {
        let facts = run.facts.iter().map(|(_, value)| value.clone());
        [&run.name, &run.algorithm, &run.dataset].into_iter().cloned().chain(facts).collect()
    };
    page.table(&columns, &runs.iter().map(row).collect::<Vec<_>>());
    page.heading("Training");
    let mut seen = HashSet::new();
    let metrics = runs.iter().flat_map(|run| &run.curves).map(|(metric, _)| metric);
    for metric in metrics.filter(|&metric| seen.insert(metric)) {
        let group = |run: &RunSummary| {
            let curve = run.curves.iter().find(|(name, _)| name == metric).map(|(_, curve)| curve.clone());
            CurveGroup {
                name: run.name.clone(),
                dataset: run.dataset.clone(),
                curves: curve.into_iter().collect(),
            }
        };
        let groups: Vec<CurveGroup> = runs.iter().map(group).collect();
        page.figure(&curve_chart(&metric.replace('_', " "), "", &groups).draw(), "");
    }
    if runs.iter().any(|run| run.calibration.is_some()) {
        page.heading("Calibration");
        let series = |run: &RunSummary| CalibrationSeries {
            name: run.name.clone(),
            dataset: run.dataset.clone(),
            pairs: run.calibration.clone().unwrap_or_default(),
        };
        let series: Vec<CalibrationSeries> = runs.iter().map(series).collect();
        let chart = calibration_chart("Predicted against observed steps", "observed steps", &series);
        let caption = "Pairs of states of one episode. A suboptimal behavior policy takes more steps than needed, so the distance of the best policy lies below the diagonal.";
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

/// The dates and the datasets of runs.
fn subtitle(runs: &[RunSummary], date: &str) -> String {
    let dates: BTreeSet<&str> = runs.iter().map(|run| run.date.as_str()).collect();
    let trained = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first != last => format!("Trained from {first} to {last}"),
        (Some(first), _) => format!("Trained on {first}"),
        _ => "No runs".to_owned(),
    };
    let datasets: BTreeSet<&str> = runs.iter().map(|run| run.dataset.as_str()).collect();
    let datasets: Vec<&str> = datasets.into_iter().collect();
    let plural = if datasets.len() == 1 { "" } else { "s" };
    format!("{trained}. Dataset{plural}: {}. Report of {date}.", datasets.join(", "))
}

/// The best run of each dataset and metric, a sentence each.
fn headlines(runs: &[RunSummary]) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut sentences = Vec::new();
    for run in runs {
        let Some(best) = &run.best else { continue };
        if !seen.insert((&run.dataset, &best.metric)) {
            continue;
        }
        let rivals = runs.iter().filter(|rival| rival.dataset == run.dataset);
        let rivals = rivals.filter_map(|rival| Some((rival, rival.best.as_ref()?)));
        let rivals: Vec<_> = rivals.filter(|(_, rival)| rival.metric == best.metric).collect();
        let (winner, best) =
            rivals.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value)).expect("the run itself is one");
        let metric = best.metric.rsplit('/').next().unwrap_or(&best.metric).replace('_', " ");
        let of = if rivals.len() > 1 { format!(" of {} runs", rivals.len()) } else { String::new() };
        sentences.push(format!(
            "Best {metric}{of} on {}: {:.3}, by {} ({}) at step {}.",
            winner.dataset, best.value, winner.name, winner.algorithm, best.step
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, dataset: &str, value: f64) -> RunSummary {
        RunSummary {
            name: name.into(),
            algorithm: "cmd1".into(),
            dataset: dataset.into(),
            date: "2026-01-30".into(),
            best: Some(BestEvaluation { metric: "evaluation/rank_correlation".into(), value, step: 400 }),
            curves: vec![("critic/loss".into(), vec![(100, 2.0), (200, 1.0)])],
            calibration: Some((0..400).map(|k| (f64::from(k % 20), f64::from(k % 19))).collect()),
            ..RunSummary::default()
        }
    }

    #[test]
    fn a_report_begins_with_its_data_and_its_result() {
        let html = run_report(&[run("a", "walks (12ab)", 0.9)], &[], "2026-01-31", "by isochrone").html();
        for part in [
            "<h1>a: cmd1</h1>",
            "Trained on 2026-01-30. Dataset: walks (12ab). Report of 2026-01-31.",
            "Best rank correlation on walks (12ab): 0.900, by a (cmd1) at step 400.",
        ] {
            assert!(html.contains(part), "{part}: {}", &html[..3000]);
        }
    }

    #[test]
    fn runs_of_different_data_are_compared_per_dataset() {
        let mut cloned = run("c", "ring (34cd)", 0.5);
        (cloned.calibration, cloned.best) = (None, None);
        let runs = [run("a", "walks (12ab)", 0.8), run("b", "walks (12ab)", 0.9), cloned];
        let html = run_report(&runs, &[], "2026-01-31", "by isochrone").html();
        assert!(html.contains("Best rank correlation of 2 runs on walks (12ab): 0.900, by b"));
        assert!(html.contains("No distance: c."));
        // Each dataset has a panel in the chart of losses.
        assert!(html.contains("\nwalks (12ab)\n") && html.contains("\nring (34cd)\n"));
    }
}
