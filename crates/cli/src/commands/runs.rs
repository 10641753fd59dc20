//! `isochrone runs`: lists and compares runs.

use crate::commands::{
    output::{Field, Report, StyleArgs, file_name, file_stem, named, note, number, save},
    query::open_run,
};
use anyhow::bail;
use isochrone::{
    learn::run::{Record, Run, State, Status, metrics},
    plot::{Figure, LineChart, Panel, Series},
};
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// List and compare runs: progress, best evaluation, last metrics and training curves
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run directories, or directories that contain runs
    #[arg(value_name = "RUN", default_value = "runs")]
    folders: Vec<PathBuf>,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long)]
    accept_edits: bool,

    /// Metrics to print and plot, or all [default: losses and evaluations]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    metrics: Vec<String>,

    /// Plot the training curves (.svg or .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone runs
  isochrone runs runs/maze-cmd1 runs/maze-qrl --plot curves.svg
  isochrone runs --metrics critic/accuracy,evaluation/rank_correlation --csv";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    args.plot.as_deref().map_or(Ok(()), Figure::check_path)?;
    let runs = find_runs(&args.folders, args.accept_edits)?;
    let records: Vec<Vec<Record>> = runs.iter().map(Run::records).collect::<Result<_, _>>()?;
    let names = metric_names(&args.metrics, &records)?;
    write!(out, "{}", report(&runs, &records, &names)?.print(&args.style))?;
    if args.style.is_text() && runs.len() == 1 {
        writeln!(out, "\nconfiguration: {}", runs[0].folder().join("config.toml").display())?;
    }
    if let Some(path) = &args.plot {
        save(&curves(&runs, &records, &names).draw(), path)?;
    }
    Ok(())
}

/// Opens every directory that is a run, and every run directly below a directory that is not.
pub fn find_runs(folders: &[PathBuf], accept_edits: bool) -> anyhow::Result<Vec<Run>> {
    let is_run = |folder: &Path| folder.join("config.toml").is_file();
    let mut runs = Vec::new();
    for folder in folders {
        if is_run(folder) {
            runs.push(open_run(folder, accept_edits)?);
            continue;
        }
        if !folder.is_dir() {
            bail!("{}: no such directory; hint: isochrone train creates runs in runs/", folder.display());
        }
        let mut inside: Vec<PathBuf> =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        inside.sort();
        for folder in inside.into_iter().filter(|folder| is_run(folder)) {
            match open_run(&folder, accept_edits) {
                Ok(run) => runs.push(run),
                // A corrupt run does not hide the others.
                Err(error) => note(&format!("warning: skipped {error}")),
            }
        }
    }
    // A run that is given twice is listed once.
    let mut seen = std::collections::HashSet::new();
    runs.retain(|run| {
        seen.insert(std::fs::canonicalize(run.folder()).unwrap_or_else(|_| run.folder().to_owned()))
    });
    if runs.is_empty() {
        bail!("{}: contains no run; hint: create one with isochrone train", folders[0].display());
    }
    Ok(runs)
}

/// Returns the metrics to print, in the order in which runs report them.
fn metric_names(requested: &[String], records: &[Vec<Record>]) -> anyhow::Result<Vec<String>> {
    let known = metrics::names(records.iter().flatten());
    if let Some(unknown) = requested.iter().find(|name| *name != "all" && !known.contains(&name.as_str())) {
        bail!("--metrics {unknown}: no run has this metric; hint: choose from {}", known.join(", "));
    }
    let is_shown = |name: &&str| match requested {
        [] => metrics::is_main(name),
        _ => requested.iter().any(|requested| requested == "all" || requested == *name),
    };
    Ok(known.into_iter().filter(is_shown).map(str::to_owned).collect())
}

fn report(runs: &[Run], records: &[Vec<Record>], names: &[String]) -> anyhow::Result<Report> {
    let columns = "run,algorithm,data,seed,state,step,steps,seconds,best,best_metric,best_step";
    let columns = named(columns.split(',').chain(names.iter().map(String::as_str)));
    let mut rows = Vec::new();
    for (run, records) in runs.iter().zip(records) {
        let (manifest, config) = (run.manifest(), run.config());
        let status = run.status().unwrap_or_else(|error| {
            // A corrupt run does not hide the others.
            note(&format!("warning: {error}"));
            Status { state: State::Running, step: 0, seconds: f64::NAN, best: None, reason: None }
        });
        // Evaluations are rarer than losses, so the last value of each metric is used.
        let last = |name: &String| number(records.iter().rev().find_map(|record| record.get(name)), 4);
        let count = |count: u64| usize::try_from(count).map(Field::Count);
        let best = status.best.as_ref();
        let mut row = vec![
            Field::Text(run.folder().display().to_string()),
            Field::Text(manifest.algorithm.clone()),
            Field::Text(file_name(&manifest.data.path)),
            count(manifest.seed)?,
            Field::Text(run.status_label(status.state).to_owned()),
            count(status.step)?,
            count(config.steps)?,
            Field::Number(status.seconds, 0),
            number(best.map(|best| best.value), 4),
            best.map_or(Field::Missing, |best| Field::Text(best.metric.clone())),
            best.map_or(Ok(Field::Missing), |best| count(best.step))?,
        ];
        row.extend(names.iter().map(last));
        rows.push(row);
    }
    Ok(Report::new(json!({}), columns, rows))
}

fn curves(runs: &[Run], records: &[Vec<Record>], names: &[String]) -> LineChart {
    let series = |name: &String| {
        let pairs = runs.iter().zip(records);
        let series = pairs.map(|(run, records)| {
            let curve = metrics::curve(records, name);
            let points = curve.into_iter().map(|(step, value)| (step as f64, value)).collect();
            Series { name: file_name(run.folder()), points, band: Vec::new() }
        });
        series.collect()
    };
    let panel =
        |name: &String| Panel { title: name.replace('_', " "), series: series(name), ..Panel::default() };
    let panels = names.iter().map(panel);
    let title = match runs {
        [run] => format!("{} on {}", run.manifest().algorithm, file_stem(&run.manifest().data.path)),
        _ => format!("{} runs", runs.len()),
    };
    LineChart { title, x_axis: "training steps".into(), panels: panels.collect(), ..LineChart::default() }
}

/// The name and the first digits of the hash of the dataset that a run learned from.
pub fn dataset_label(run: &Run) -> String {
    let data = &run.manifest().data;
    format!("{} ({})", file_name(&data.path), data.content_hash.chars().take(12).collect::<String>())
}

/// Returns the directory name of a run, or its path if another run has the same name.
pub fn display_name(run: &Run, among: &[&Run]) -> String {
    let name = |run: &Run| file_name(run.folder());
    let is_unique = among.iter().filter(|other| name(other) == name(run)).count() < 2;
    if is_unique { name(run) } else { run.folder().display().to_string() }
}
