//! The results table of the README is computed from the committed results.

use crate::pages::{compare, text};
use serde_json::Value;
use std::fmt::Write as _;

const BEGIN: &str = "<!-- results: begin; written by `just docs-update` -->\n";
const END: &str = "<!-- results: end -->";

/// The rows: dataset, method, and the study that has its runs.
const ROWS: &[(&str, &[&str], &str)] = &[
    ("pointmaze-medium-navigate", &["cmd1", "cmd2"], "mazes-planners"),
    ("pointmaze-medium-navigate", &["qrl", "gciql", "gcbc"], "mazes"),
    ("pointmaze-large-stitch", &["cmd1", "cmd2"], "mazes-planners"),
    ("pointmaze-large-stitch", &["qrl", "gciql", "gcbc"], "mazes"),
    ("pointmaze-teleport-navigate", &["cmd1", "cmd2"], "mazes-planners"),
    ("pointmaze-teleport-navigate", &["qrl", "gciql", "gcbc"], "mazes"),
    ("antmaze-medium-navigate", &["cmd1"], "antmaze-planners"),
    ("antmaze-medium-navigate", &["cmd1"], "antmaze"),
];

/// Success in percent: the mean over tasks of the last three checkpoints, then over seeds.
pub fn success_percent(runs: &[Value], planner: Option<&str>) -> Option<f64> {
    let of_run = |run: &Value| -> Option<f64> {
        let evaluations = run["evaluations"].as_array().unwrap();
        let is_wanted = |evaluation: &&Value| evaluation["planner"].as_str() == planner;
        let mut wanted: Vec<&Value> = evaluations.iter().filter(is_wanted).collect();
        wanted.sort_by_key(|evaluation| std::cmp::Reverse(evaluation["step"].as_u64()));
        wanted.truncate(3);
        mean(wanted.iter().map(|evaluation| {
            mean(evaluation["success"].as_array().unwrap().iter().map(|task| task.as_f64().unwrap())).unwrap()
        }))
    };
    mean(runs.iter().filter_map(of_run)).map(|share| 100.0 * share)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

fn percent(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.1}"))
}

fn display_name(method: &str) -> String {
    match method {
        "cmd1" => "CMD-1".to_owned(),
        "cmd2" => "CMD-2".to_owned(),
        other => other.to_uppercase(),
    }
}

/// Returns the runs of a method on a dataset of a study, one for each seed.
pub fn runs(study: &str, dataset: &str, method: &str) -> Vec<Value> {
    let results: Value = serde_json::from_str(&text(&format!("docs/results/{study}/results.json"))).unwrap();
    let is_wanted = |run: &&Value| run["dataset"] == dataset && run["method"] == method;
    let runs: Vec<Value> = results["runs"].as_array().unwrap().iter().filter(is_wanted).cloned().collect();
    assert!(!runs.is_empty(), "{study} has no run of {method} on {dataset}");
    runs
}

fn table() -> String {
    let published: toml::Table = text("docs/results/published.toml").parse().unwrap();
    let mut table = String::from(
        "| dataset | method | policy alone | with graph | along recorded segments | same method, published | best published, planners included | seeds | training per run |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    let rows =
        ROWS.iter().flat_map(|(dataset, methods, study)| methods.iter().map(move |m| (dataset, m, study)));
    for (dataset, method, study) in rows {
        let runs = runs(study, dataset, method);
        let best = &published[*dataset]["best"];
        let same = published[*dataset].get("same").and_then(|same| same.get(*method));
        let steps = runs[0]["steps"].as_u64().unwrap();
        let minutes = mean(runs.iter().map(|run| run["seconds"].as_f64().unwrap())).unwrap() / 60.0;
        writeln!(
            table,
            "| {dataset} | [{}](docs/results/{study}/README.md) | {} | {} | {} | {} | [{} ({})]({}) | {} | {}k updates, {minutes:.0} min |",
            display_name(method),
            percent(success_percent(&runs, None)),
            percent(success_percent(&runs, Some("graph"))),
            percent(success_percent(&runs, Some("recorded"))),
            percent(same.map(|same| same.as_float().unwrap())),
            best["percent"].as_float().unwrap(),
            best["method"].as_str().unwrap(),
            best["source"].as_str().unwrap(),
            runs.len(),
            steps as f64 / 1000.0,
        )
        .unwrap();
    }
    table
}

#[test]
fn the_results_table_is_current() {
    let readme = text("README.md");
    let (before, rest) = readme.split_once(BEGIN).expect("README.md has the marker of the table");
    let (_, after) = rest.split_once(END).expect("README.md has the marker of the table's end");
    compare("README.md", &format!("{before}{BEGIN}{}{END}{after}", table()));
}
