//! The tables of the README and of the index of results are computed from the committed results.

use crate::pages::{compare, text};
use serde_json::Value;
use std::fmt::Write as _;

const BEGIN: &str = "<!-- results: begin; written by `just docs-update` -->\n";
const END: &str = "<!-- results: end -->";

/// Studies of all mazes, each with the planner of its rows.
const PLANNERS: &[(&str, &str)] = &[("pointmazes", "stochastic"), ("waypoints", "recorded")];

/// The rows of methods side by side: dataset, methods, and the study that has their runs.
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

fn results(study: &str) -> Value {
    serde_json::from_str(&text(&format!("docs/results/{study}/results.json"))).unwrap()
}

/// Describes the training of runs: updates and minutes.
fn training(runs: &[Value]) -> String {
    let steps = runs[0]["steps"].as_u64().unwrap();
    let minutes = mean(runs.iter().map(|run| run["seconds"].as_f64().unwrap())).unwrap() / 60.0;
    format!("{}k updates, {minutes:.0} min", steps as f64 / 1000.0)
}

/// Returns the runs of a method on a dataset of a study, one for each seed.
pub fn runs(study: &str, dataset: &str, method: &str) -> Vec<Value> {
    let results = results(study);
    let is_wanted = |run: &&Value| run["dataset"] == dataset && run["method"] == method;
    let runs: Vec<Value> = results["runs"].as_array().unwrap().iter().filter(is_wanted).cloned().collect();
    assert!(!runs.is_empty(), "{study} has no run of {method} on {dataset}");
    runs
}

/// One row for each maze: a policy with a planner, beside the best published number.
fn planners_table() -> String {
    let mut table = String::from(
        "| dataset | policy | planner | success | best published, planners included | seeds | training per run |\n|---|---|---|---|---|---|---|\n",
    );
    for (study, planner) in PLANNERS {
        let results = results(study);
        for (dataset, recipe) in results["recipe"]["datasets"].as_object().unwrap() {
            let runs = results["runs"].as_array().unwrap().iter().filter(|run| run["dataset"] == **dataset);
            let runs: Vec<Value> = runs.cloned().collect();
            let Some(run) = runs.first() else { continue };
            writeln!(
                table,
                "| {dataset} | [{}](docs/results/{study}/README.md) | {planner} | {} | {} ({}) | {} | {} |",
                display_name(run["method"].as_str().unwrap()),
                percent(success_percent(&runs, Some(planner))),
                recipe["best"]["percent"].as_f64().unwrap(),
                recipe["best"]["method"].as_str().unwrap(),
                runs.len(),
                training(&runs),
            )
            .unwrap();
        }
    }
    table
}

/// One row for each method of some mazes, alone and with planners.
fn methods_table() -> String {
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
        writeln!(
            table,
            "| {dataset} | [{}]({study}/README.md) | {} | {} | {} | {} | [{} ({})]({}) | {} | {} |",
            display_name(method),
            percent(success_percent(&runs, None)),
            percent(success_percent(&runs, Some("graph"))),
            percent(success_percent(&runs, Some("recorded"))),
            percent(same.map(|same| same.as_float().unwrap())),
            best["percent"].as_float().unwrap(),
            best["method"].as_str().unwrap(),
            best["source"].as_str().unwrap(),
            runs.len(),
            training(&runs),
        )
        .unwrap();
    }
    table
}

fn is_current(page: &str, table: &str) {
    let committed = text(page);
    let (before, rest) = committed.split_once(BEGIN).expect("the page has the marker of the table");
    let (_, after) = rest.split_once(END).expect("the page has the marker of the table's end");
    compare(page, &format!("{before}{BEGIN}{table}{END}{after}"));
}

#[test]
fn the_results_table_is_current() {
    is_current("README.md", &planners_table());
}

#[test]
fn the_table_of_methods_is_current() {
    is_current("docs/results/README.md", &methods_table());
}
