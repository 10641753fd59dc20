use crate::commands::{
    output::file_name,
    query::{Asker, DistanceArg},
    runs::{dataset_label, display_name, found},
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

/// A page about a run, or about several side by side: settings, curves, calibration, maps; one HTML file that needs nothing else
#[derive(clap::Args)]
pub struct Args {
    /// Runs, or folders of runs
    #[arg(default_value = "runs")]
    folders: Vec<PathBuf>,

    /// Look at runs although their config.toml or manifest.json was edited
    #[arg(long)]
    accept_edits: bool,

    /// The page (.html)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

/// Cells on the longer side of a map.
const CELLS: usize = 90;
/// Pairs of states of a calibration.
const PAIRS: usize = 20_000;
/// Maps of more runs would make the report too long.
const MAX_MAPS: usize = 12;

pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if !args.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html")) {
        bail!("{}: a report is HTML; hint: end the name in .html", args.output.display());
    }
    let askers = found(&args.folders, args.accept_edits)?;
    let askers = askers.into_iter().map(|run| Asker::of(run, CheckpointSelector::Last, None));
    let askers: Vec<Asker> = askers.collect::<anyhow::Result<_>>()?;
    let runs: Vec<&Run> = askers.iter().map(|asker| &asker.run).collect();
    let summaries: Vec<RunSummary> =
        askers.iter().map(|asker| summary(asker, &runs)).collect::<anyhow::Result<_>>()?;
    let mut maps = Vec::new();
    for asker in askers.iter().take(MAX_MAPS) {
        let (data, width) = (asker.data()?, asker.model.spec.observation.width);
        if width < 2 {
            continue;
        }
        let Some(goal) = CentralState::find(data, &*asker.distance_of(DistanceArg::Refined)?) else {
            continue;
        };
        let map = StepMap::new(asker, None, CELLS)?;
        let learned = asker.model.distance.as_ref().map(|_| DistanceArg::Learned);
        for which in std::iter::once(DistanceArg::Refined).chain(learned) {
            let distance = asker.distance_of(which)?;
            let panels = vec![
                map.panel("to the star", &*distance, &goal.state, MapDirection::To),
                map.panel("from the circle", &*distance, &goal.state, MapDirection::From),
            ];
            let note = match which {
                DistanceArg::Refined => "refined distance, along recorded segments",
                _ => "learned distance, of the behavior policy",
            };
            let title = file_name(asker.run.folder());
            let chart = PlaneChart { title, note: note.to_owned(), axes: map.axes(), panels };
            maps.push((chart.draw(), format!("Steps to and from one state: {}.", goal.describe())));
        }
    }
    let revision = Provenance::revision().unwrap_or("unknown");
    let provenance = format!("Made by isochrone {} at revision {revision}.", env!("CARGO_PKG_VERSION"));
    let date = html::date(Provenance::now().started_at);
    let page = run_report(&summaries, &maps, &date, &provenance);
    write_file(&args.output, page.html().as_bytes())
        .with_context(|| format!("{}: the report cannot be written", args.output.display()))?;
    writeln!(out, "{}: {} runs", args.output.display(), summaries.len())?;
    Ok(())
}

/// What a report says of a run.
fn summary(asker: &Asker, among: &[&Run]) -> anyhow::Result<RunSummary> {
    let run = &asker.run;
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
    let distance = asker.model.distance.as_ref();
    let calibration = distance.map(|distance| anyhow::Ok(observed_pairs(distance, asker.data()?, PAIRS, 0)));
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
