use crate::commands::{
    output::{save, tell},
    query::{Asker, open_run, parse_which},
    runs::{dataset_label, display_name, found},
};
use anyhow::bail;
use isochrone::{
    calibration::observed_pairs,
    learn::{model::CheckpointSelector, run::Run},
    plot::{CalibrationSeries, Figure, calibration_chart},
};
use std::path::PathBuf;

/// Predicted steps against observed ones, over pairs of states of one episode
///
/// Behaviour that dawdles takes more steps than needed: the distance of a good policy lies below the line.
#[derive(clap::Args)]
pub struct Args {
    /// Runs, or folders of runs
    #[arg(default_value = "runs")]
    folders: Vec<PathBuf>,

    /// Look at runs although their config.toml or manifest.json was edited
    #[arg(long)]
    accept_edits: bool,

    /// Logs to take the pairs from [default: those that each run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Pairs of each run
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pairs: u32,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: CheckpointSelector,

    /// The picture (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    Figure::check_path(&args.output)?;
    let mut series = Vec::new();
    let runs = found(&args.folders, args.accept_edits)?;
    let runs: Vec<&Run> = runs.iter().collect();
    for run in &runs {
        // One data set at a time in memory.
        let asker =
            Asker::of(open_run(run.folder(), args.accept_edits)?, args.checkpoint, args.data.as_deref())?;
        let name = display_name(run, &runs);
        let pairs = match &asker.model.distance {
            Some(distance) => observed_pairs(distance, asker.data()?, args.pairs as usize, 0),
            None => {
                tell(&format!("warning: {name} is left out: behavior cloning learns no distance"));
                Vec::new()
            }
        };
        let dataset =
            args.data.as_ref().map_or_else(|| dataset_label(run), |path| path.display().to_string());
        series.push(CalibrationSeries { name, dataset, pairs });
    }
    if series.iter().all(|series| series.pairs.is_empty()) {
        bail!("no run knows a distance; hint: train with another --algorithm");
    }
    let chart = calibration_chart("Predicted against observed steps", "observed steps", &series);
    save(&chart.draw(), &args.output)
}
