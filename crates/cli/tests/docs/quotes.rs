//! Numbers in the prose of the README are those of the committed results.

use crate::{
    pages::text,
    results_table::{runs, success_percent},
};
use serde_json::Value;

/// Returns the smallest and the largest value.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| (min.min(value), max.max(value)))
}

/// Returns the range of a field of a distance over the point mazes.
fn in_point_mazes(method: &str, reading: &str, field: &str) -> (f64, f64) {
    let results: Value = serde_json::from_str(&text("docs/results/distances/results.json")).unwrap();
    let is_wanted = |row: &&Value| {
        let environment = row["environment"].as_str().unwrap();
        environment.starts_with("pointmaze") && row["method"] == method && row["reading"] == reading
    };
    let rows: Vec<&Value> = results["rows"].as_array().unwrap().iter().filter(is_wanted).collect();
    assert_eq!(rows.len(), 4, "four point mazes");
    range(rows.iter().map(|row| row[field].as_f64().unwrap()))
}

/// Returns a cell of the row of a Markdown table that starts with the given cells.
fn cell(page: &str, start: &str, at: usize) -> String {
    find_cell(page, start, at).unwrap_or_else(|| panic!("no row {start}"))
}

fn find_cell(page: &str, start: &str, at: usize) -> Option<String> {
    let page = text(page);
    let row = page.lines().find(|line| line.starts_with(start))?;
    Some(row.split('|').nth(at + 1).unwrap().trim().to_owned())
}

fn ratio_to_isochrone(contender: &str, batch: usize) -> f64 {
    let page = "docs/results/bench-nn.md";
    // Pages of earlier revisions have no column for the width.
    let with_width = find_cell(page, &format!("| {contender} | 512 | {batch} |"), 4);
    with_width.unwrap_or_else(|| cell(page, &format!("| {contender} | {batch} |"), 3)).parse().unwrap()
}

#[test]
fn quoted_numbers_are_those_of_the_results() {
    let (min_rank, max_rank) = in_point_mazes("refined", "fastest", "spearman");
    let (min_error, max_error) = in_point_mazes("refined", "fastest", "median_relative_error");
    let (min_straight, max_straight) = in_point_mazes("euclidean", "raw", "spearman");
    let (min_straight_error, max_straight_error) =
        in_point_mazes("euclidean", "raw", "median_relative_error");
    let cmd1 = runs("mazes-planners", "pointmaze-medium-navigate", "cmd1");
    let alone = success_percent(&cmd1, None).unwrap();
    let planned = success_percent(&cmd1, Some("recorded")).unwrap();
    let two_levels =
        |study, dataset, method| success_percent(&runs(study, dataset, method), Some("two levels")).unwrap();
    let of_ball = |method| two_levels("pointmazes-two-levels", "pointmaze-medium-navigate", method);
    let of_ant = two_levels("two-levels-cmd1", "antmaze-medium-navigate", "cmd1");
    let by_scan = |batch| ratio_to_isochrone("JAX, own derivative rule, maximum by scan", batch);
    let broadcast = |batch| ratio_to_isochrone("JAX, broadcast (as published)", batch);
    let exact = |at| cell("docs/results/bench-exact.md", "| policy iteration", at);
    let quotes = [
        format!("a rank correlation of {min_rank:.3} to {max_rank:.3} with exact travel times"),
        format!("a median error of {:.0} to {:.0} %", 100.0 * min_error, 100.0 * max_error),
        format!(
            "(straight lines: {min_straight:.3} to {max_straight:.3}, and {:.0} to {:.0} %",
            100.0 * min_straight_error,
            100.0 * max_straight_error
        ),
        format!("{alone:.1} % of goals alone and {planned:.1} % along a plan"),
        format!(
            "MQE has {:.1} %, CMD-2 {:.1} % and QRL {:.1} %",
            of_ball("mqe"),
            of_ball("cmd2"),
            of_ball("qrl")
        ),
        format!("CMD-1 has [{of_ant:.1} %]"),
        format!("{:.1} to {:.1} times faster than hand-optimized JAX", by_scan(256), by_scan(1024)),
        format!("{:.0} to {:.0} times faster than broadcasting", broadcast(256), broadcast(1024)),
        format!("in {:.1} seconds", exact(1).trim_end_matches(" s").parse::<f64>().unwrap()),
        format!(
            "{} times faster than value iteration",
            exact(2).trim_matches('*').trim_end_matches("x faster")
        ),
    ];
    let readme = text("README.md");
    for quote in quotes {
        assert!(readme.contains(&quote), "README.md does not quote the measured \"{quote}\"");
    }
}
