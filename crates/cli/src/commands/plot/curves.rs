use crate::commands::{
    output::{note, save},
    runs::{dataset_label, find_runs},
};
use anyhow::bail;
use isochrone::{
    learn::run::{Record, Run, metrics},
    plot::{CurveGroup, Figure, curve_chart},
};
use std::path::PathBuf;

/// Plot a metric over training, averaged over the seeds of each algorithm, with 95 % intervals
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run directories, or directories that contain runs
    #[arg(value_name = "RUN", default_value = "runs")]
    folders: Vec<PathBuf>,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long)]
    accept_edits: bool,

    /// Metric to plot; see isochrone runs
    #[arg(long, value_name = "NAME", default_value = "evaluation/log_likelihood")]
    metric: String,

    /// Output file (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  isochrone plot curves -o curves.svg
  isochrone plot curves runs/maze-cmd1 runs/maze-qrl --metric critic/loss -o curves.svg";

pub fn run(args: &Args) -> anyhow::Result<()> {
    Figure::check_path(&args.output)?;
    let runs = find_runs(&args.folders, args.accept_edits)?;
    let mut groups: Vec<CurveGroup> = Vec::new();
    // The settings and data of each group, with the seeds of its runs.
    let mut keys: Vec<((String, String), Vec<u64>)> = Vec::new();
    let mut firsts = Vec::new();
    let records: Vec<Vec<Record>> = runs.iter().map(Run::records).collect::<Result<_, _>>()?;
    for (run, records) in runs.iter().zip(&records) {
        let curve = metrics::curve(records, &args.metric);
        // Runs with the same settings and data contents are seeds of one group.
        let mut config = run.config().clone();
        (config.seed, config.data.path, config.data.validation) = (0, PathBuf::new(), None);
        let key = (toml::to_string(&config)?, run.manifest().data.content_hash.clone());
        match keys.iter().position(|(other, _)| *other == key) {
            Some(at) if keys[at].1.contains(&run.config().seed) => note(&format!(
                "warning: {} skipped: another run has the same settings, data and seed",
                run.folder().display()
            )),
            Some(at) => {
                keys[at].1.push(run.config().seed);
                groups[at].curves.push(curve);
            }
            None => {
                keys.push((key, vec![run.config().seed]));
                groups.push(CurveGroup {
                    name: run.manifest().algorithm.clone(),
                    dataset: dataset_label(run),
                    curves: vec![curve],
                });
                firsts.push(run.folder().display().to_string());
            }
        }
    }
    // Groups of the same algorithm are distinguished by the path of a run of each.
    let names: Vec<(String, String)> =
        groups.iter().map(|group| (group.name.clone(), group.dataset.clone())).collect();
    for ((group, first), name) in groups.iter_mut().zip(firsts).zip(&names) {
        if names.iter().filter(|other| *other == name).count() > 1 {
            group.name = format!("{} ({first})", name.0);
        }
    }
    if groups.iter().flat_map(|group| &group.curves).all(Vec::is_empty) {
        let known = metrics::names(records.iter().flatten()).join(", ");
        bail!("--metric {}: no run has this metric; hint: choose from {known}", args.metric);
    }
    save(&curve_chart(&args.metric.replace('_', " "), "", &groups).draw(), &args.output)
}
