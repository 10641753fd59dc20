//! The report: tables, a figure, and the rows as JSON.

use super::{
    plans::PlanCheck,
    results::{DistanceResults, to_json},
    row::{DISTANCES, DistanceRow},
};
use crate::{StudyError, report::plain_markdown};
use isochrone_core::statistics::median;
use isochrone_learn::run::write_file;
use isochrone_plot::{LineChart, Panel, Series};
use std::{fmt::Write as _, path::Path};

/// The columns of a table.
const COLUMNS: [&str; 13] = [
    "method",
    "reading",
    "Spearman",
    "median error",
    "within 25 %",
    "ratio",
    "one ahead",
    "one behind (exact)",
    "d(x, x)",
    "triangle broken",
    "above lag",
    "below speed limit",
    "fit",
];
/// The number of points of a curve.
const BINS: usize = 12;

/// Writes `results.json`, `README.md` and `readings.svg` / `.png`.
pub fn write(folder: &Path, rows: &[DistanceRow]) -> Result<(), StudyError> {
    let results = DistanceResults::new(rows);
    write_file(&folder.join("results.json"), &to_json(&results))?;
    write_file(&folder.join("README.md"), plain_markdown(&markdown(&results)).as_bytes())?;
    let figure = figure(rows).draw();
    for file in ["readings.svg", "readings.png"] {
        figure.save(&folder.join(file))?;
    }
    Ok(())
}

fn markdown(results: &DistanceResults) -> String {
    let mut text = String::from(
        "# Distances compared with exact travel times\n\n\
         `isochrone reproduce distances` fits every method to the same data and compares its readings with exact optimal travel times, over random pairs of held-out states.\n\
         Exact travel times come from the exact solver: over cells of a gridworld and of a ring, over sites of nav2d, and over places 0.2 m apart in mazes, where a step moves 0.2 m along each axis.\n\
         In nav2d a step covers a random distance and a goal can be missed: the exact time is the discounted time of the optimal policy to any site near the goal; in `nav2d-without-chance` it is the minimum number of steps to the exact site, including turns that no trajectory contains.\n\
         The exit of a teleporter is random: in that maze the exact time is that without teleporters. An ant is slower than a ball: its exact time is that of the same path at the fastest pace that an ant of the dataset keeps for 64 steps, and its goals are places: any state within 0.7 m for the refined distance, the full state for the others.\n\
         `arm` are demonstrations of a robot, in five folds: the steps to go of every frame, as the quantile 0.25 over the ends of other demonstrations of its task that are labeled a success, compared with an oracle of the simulator at nominal speed.\n\
         Learned distances are those of small networks (2 x 64) after a short training: results.json lists the updates of each.\n\
         `median error` is the median of |reading - exact| / exact over pairs more than two steps apart; `above lag` is the share of recorded pairs whose reading exceeds the recorded time (by more than a quarter and five steps); `below speed limit` is the share of pairs whose reading is shorter than the largest recorded displacement per step allows.\n",
    );
    for group in results.rows.chunk_by(|a, b| a.environment == b.environment) {
        let _ = write!(
            text,
            "\n## {}\n\n{} rows of data, {} pairs.\n\n",
            group[0].environment, group[0].rows, group[0].pairs
        );
        let at = DISTANCES.map(|steps| format!("at {steps}"));
        let columns: Vec<&str> = COLUMNS.into_iter().chain(at.iter().map(String::as_str)).collect();
        let _ = writeln!(text, "| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
        for row in group {
            let _ = writeln!(text, "| {} |", cells(row).join(" | "));
        }
        let planned = group.iter().filter_map(|row| Some((row, row.plans?)));
        for (row, PlanCheck { plans, hops, impossible }) in planned {
            let _ = writeln!(
                text,
                "\n{plans} random plans of {} {} with {hops} edges between recorded segments: {impossible} plans have an edge that the environment does not allow.",
                row.method, row.reading
            );
        }
        let kinds: Vec<&String> = group[0].spearman_within_episodes.keys().collect();
        if !kinds.is_empty() {
            let _ = writeln!(text, "\nMean rank correlation within demonstrations:\n");
            let names = kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" | ");
            let _ = writeln!(text, "| method | reading | {names} |\n|{}", "---|".repeat(kinds.len() + 2));
            for row in group {
                let found = row.spearman_within_episodes.values().map(|found| format!("{found:.3}"));
                let found = found.collect::<Vec<_>>().join(" | ");
                let _ = writeln!(text, "| {} | {} | {found} |", row.method, row.reading);
            }
        }
    }
    let revision = results.revision.as_deref().unwrap_or("unknown");
    let _ = write!(
        text,
        "\n![Predicted against exact steps](readings.png)\n\nMedian readings against exact steps; a perfect distance lies on the gray line.\n\nisochrone {} at revision {revision}, {}; data hashes, seeds and all numbers are in results.json.\n",
        results.version, results.platform
    );
    text
}

fn cells(row: &DistanceRow) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
    };
    let seed = if row.seed == 0 { String::new() } else { format!(" (seed {})", row.seed) };
    let mut cells = vec![
        format!("{}{seed}", row.method),
        row.reading.clone(),
        number(row.spearman, 4),
        row.median_relative_error.map_or("-".to_owned(), percent),
        percent(row.within_25_percent),
        number(row.median_ratio, 2),
        number(row.one_ahead, 2),
        row.one_behind.map_or("-".to_owned(), |(reading, exact)| format!("{reading:.1} ({exact:.0})")),
        format!("{:.2}", row.largest_self_distance),
        percent(row.triangle_violations),
        percent(row.above_recorded_lag),
        percent(row.below_speed_limit),
        format!("{:.0} s", row.fit_seconds),
    ];
    cells.extend(row.at_steps.iter().map(|&reading| number(reading, 1)));
    cells
}

fn figure(rows: &[DistanceRow]) -> LineChart {
    let panels = rows.chunk_by(|a, b| a.environment == b.environment).map(|group| {
        let farthest = group.iter().flat_map(|row| &row.sample).map(|(exact, _)| *exact).fold(0.0, f64::max);
        let exact = Series {
            name: "predicted = exact".into(),
            points: vec![(0.0, 0.0), (1.0, farthest)],
            ..Series::default()
        };
        // Only one seed is drawn, and of learned distances only readings in steps.
        let first_seed = group.iter().map(|row| row.seed).min();
        let is_drawn = |row: &&DistanceRow| {
            let is_in_steps = row.reading != "raw"
                || !group.iter().any(|other| other.method == row.method && other.reading == "calibrated");
            is_in_steps && Some(row.seed) == first_seed
        };
        let curve = |row: &DistanceRow| Series {
            name: format!("{} {}", row.method, row.reading),
            points: binned(&row.sample, farthest),
            ..Series::default()
        };
        Panel {
            title: format!("{}: predicted steps", group[0].environment),
            series: group.iter().filter(is_drawn).map(curve).collect(),
            references: vec![exact],
        }
    });
    LineChart {
        title: "Predicted distances against exact travel times".into(),
        note: "Medians over random pairs of held-out states, for one seed.".into(),
        x_axis: "exact steps, as a share of the largest".into(),
        panels: panels.collect(),
        ..LineChart::default()
    }
}

/// Median readings against exact steps, in bins of equal width.
fn binned(pairs: &[(f64, f64)], farthest: f64) -> Vec<(f64, f64)> {
    let bin = |exact: f64| ((exact / farthest * BINS as f64) as usize).min(BINS - 1);
    let point = |number: usize| {
        let (exact, readings): (Vec<f64>, Vec<f64>) =
            pairs.iter().copied().filter(|(exact, _)| bin(*exact) == number).unzip();
        (readings.len() >= 3).then(|| (median(exact) / farthest, median(readings)))
    };
    (0..BINS).filter_map(point).collect()
}
