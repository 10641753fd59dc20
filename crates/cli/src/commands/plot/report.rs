use crate::commands::{
    device_args::DeviceArgs,
    output::file_name,
    query::{DistanceArg, LoadedRun},
    runs::{dataset_label, display_name, find_runs},
    step_map::StepMap,
};
use anyhow::{Context as _, bail};
use isochrone::{
    calibration::observed_pairs,
    learn::{
        model::CheckpointSelector,
        run::{Provenance, Run, metrics, write_file},
    },
    plot::{BestEvaluation, CentralState, MapDirection, PlaneChart, RunSummary, html, run_report},
};
use std::{io::Write, path::PathBuf};

/// Write a self-contained HTML report of one or several runs: settings, curves, calibration, maps
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run directories, or directories that contain runs
    #[arg(value_name = "RUN", default_value = "runs")]
    folders: Vec<PathBuf>,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long)]
    accept_edits: bool,

    #[command(flatten)]
    device: DeviceArgs,

    /// Output file (.html)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  isochrone plot report runs/nav2d -o report.html
  isochrone plot report runs -o report.html    # all runs in the directory";

/// The number of cells on the longer side of a map.
const CELLS: usize = 90;
/// The number of pairs of states of a calibration plot.
const PAIRS: usize = 20_000;
/// The maximum number of runs with maps, so that the report does not become too long.
const MAX_MAPS: usize = 12;

pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if !args.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html")) {
        bail!("{}: a report is an HTML file; hint: use the extension .html", args.output.display());
    }
    let loaded_runs = find_runs(&args.folders, args.accept_edits)?;
    let loaded_runs = loaded_runs
        .into_iter()
        .map(|run| LoadedRun::of(run, CheckpointSelector::Last, None, args.device.device));
    let loaded_runs: Vec<LoadedRun> = loaded_runs.collect::<anyhow::Result<_>>()?;
    let runs: Vec<&Run> = loaded_runs.iter().map(|loaded| &loaded.run).collect();
    let summaries: Vec<RunSummary> =
        loaded_runs.iter().map(|loaded| summary(loaded, &runs)).collect::<anyhow::Result<_>>()?;
    let mut maps = Vec::new();
    for loaded in loaded_runs.iter().take(MAX_MAPS) {
        let (data, width) = (loaded.data()?, loaded.model.spec.observation.width);
        if width < 2 {
            continue;
        }
        let Some(goal) = CentralState::find(data, &*loaded.distance_of(DistanceArg::Refined)?) else {
            continue;
        };
        let map = StepMap::new(loaded, None, CELLS)?;
        let learned = loaded.model.distance.as_ref().map(|_| DistanceArg::Learned);
        for which in std::iter::once(DistanceArg::Refined).chain(learned) {
            let distance = loaded.distance_of(which)?;
            let panels = vec![
                map.panel("to the star", &*distance, &goal.state, MapDirection::To),
                map.panel("from the circle", &*distance, &goal.state, MapDirection::From),
            ];
            let note = match which {
                DistanceArg::Refined => "refined distance: recorded time",
                _ => "learned distance: of the trained network",
            };
            let title = file_name(loaded.run.folder());
            let chart = PlaneChart { title, note: note.to_owned(), axes: map.axes(), panels };
            maps.push((chart.draw(), format!("Steps to and from one state: {}.", goal.describe())));
        }
    }
    let revision = Provenance::revision().unwrap_or("unknown");
    let provenance = format!("Made by isochrone {} at revision {revision}.", env!("CARGO_PKG_VERSION"));
    let date = html::date(Provenance::now().started_at);
    let report = run_report(&summaries, &maps, &date, &provenance);
    write_file(&args.output, report.html().as_bytes())
        .with_context(|| format!("{}: cannot write the report", args.output.display()))?;
    writeln!(out, "{}: {} runs", args.output.display(), summaries.len())?;
    Ok(())
}

/// Returns the summary of a run for the report.
fn summary(loaded: &LoadedRun, among: &[&Run]) -> anyhow::Result<RunSummary> {
    let run = &loaded.run;
    let (manifest, config, status) = (run.manifest(), run.config(), run.status()?);
    let best =
        status.best.map(|best| BestEvaluation { metric: best.metric, value: best.value, step: best.step });
    let facts = vec![
        ("seed", manifest.seed.to_string()),
        ("steps", format!("{} of {}", status.step, config.steps)),
        ("batch", config.batch_size.to_string()),
        ("discount", config.discount.to_string()),
        ("state", run.status_label(status.state).to_owned()),
        ("seconds", format!("{:.0}", status.seconds)),
        (
            "best evaluation",
            best.as_ref().map_or_else(
                || "-".into(),
                |best| format!("{} {:.3} at step {}", best.metric, best.value, best.step),
            ),
        ),
    ];
    let records = run.records()?;
    let names = metrics::names(&records).into_iter().filter(|name| metrics::is_main(name));
    let curves = names.map(|name| (name.to_owned(), metrics::curve(&records, name))).collect();
    let distance = loaded.model.distance.as_ref();
    let calibration = distance.map(|distance| anyhow::Ok(observed_pairs(distance, loaded.data()?, PAIRS, 0)));
    Ok(RunSummary {
        name: display_name(run, among),
        algorithm: manifest.algorithm.clone(),
        dataset: dataset_label(run),
        date: html::date(manifest.made_by.started_at),
        best,
        facts,
        curves,
        calibration: calibration.transpose()?,
        config: toml::to_string(config).unwrap_or_default(),
    })
}
