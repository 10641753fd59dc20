use crate::commands::{
    device_args::DeviceArgs,
    output::{note, save},
    query::{LoadedRun, open_run, parse_checkpoint},
    runs::{dataset_label, display_name, find_runs},
};
use anyhow::bail;
use isochrone::{
    calibration::observed_pairs,
    learn::{model::CheckpointSelector, run::Run},
    plot::{CalibrationSeries, Figure, calibration_chart},
};
use std::path::PathBuf;

/// Plot predicted against observed steps, for pairs of states in the same episode
///
/// Suboptimal behavior takes more steps than necessary, so the distance of a good policy lies below
/// the diagonal.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run directories, or directories that contain runs
    #[arg(value_name = "RUN", default_value = "runs")]
    folders: Vec<PathBuf>,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long)]
    accept_edits: bool,

    /// Dataset to sample pairs from [default: each run's training data]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Number of pairs per run
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pairs: u32,

    /// Checkpoint to load: last, best or a step
    #[arg(long, default_value = "best", value_name = "CHECKPOINT", value_parser = parse_checkpoint)]
    checkpoint: CheckpointSelector,

    #[command(flatten)]
    device: DeviceArgs,

    /// Output file (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  isochrone plot calibration runs/maze-cmd1 runs/maze-qrl -o calibration.svg
  isochrone plot calibration runs/robot --data held-out.npz -o calibration.png";

pub fn run(args: &Args) -> anyhow::Result<()> {
    Figure::check_path(&args.output)?;
    let mut series = Vec::new();
    let runs = find_runs(&args.folders, args.accept_edits)?;
    let runs: Vec<&Run> = runs.iter().collect();
    for run in &runs {
        // Only one dataset is in memory at a time.
        let run_again = open_run(run.folder(), args.accept_edits)?;
        let loaded = LoadedRun::of(run_again, args.checkpoint, args.data.as_deref(), args.device.device)?;
        let name = display_name(run, &runs);
        let pairs = match &loaded.model.distance {
            Some(distance) => observed_pairs(distance, loaded.data()?, args.pairs as usize, 0),
            None => {
                note(&format!("warning: {name} skipped: behavior cloning learns no distance"));
                Vec::new()
            }
        };
        let dataset =
            args.data.as_ref().map_or_else(|| dataset_label(run), |path| path.display().to_string());
        series.push(CalibrationSeries { name, dataset, pairs });
    }
    if series.iter().all(|series| series.pairs.is_empty()) {
        bail!("no run has learned a distance; hint: train with another --algorithm");
    }
    let chart = calibration_chart("Predicted against observed steps", "observed steps", &series);
    save(&chart.draw(), &args.output)
}
