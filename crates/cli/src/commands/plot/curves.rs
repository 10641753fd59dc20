use crate::commands::{
    output::save,
    runs::{dataset_label, found},
};
use anyhow::bail;
use isochrone::{
    learn::run::{Record, Run, metrics},
    plot::{CurveGroup, Figure, curve_chart},
};
use std::path::PathBuf;

/// A metric over training, averaged over the seeds of each algorithm, with intervals of 95 %
#[derive(clap::Args)]
pub struct Args {
    /// Runs, or folders of runs
    #[arg(default_value = "runs")]
    folders: Vec<PathBuf>,

    /// Look at runs although their config.toml or manifest.json was edited
    #[arg(long)]
    accept_edits: bool,

    /// Which metric; isochrone runs lists them
    #[arg(long, value_name = "NAME", default_value = "evaluation/log_likelihood")]
    metric: String,

    /// The picture (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    Figure::check_path(&args.output)?;
    let runs = found(&args.folders, args.accept_edits)?;
    let mut groups: Vec<CurveGroup> = Vec::new();
    let (mut keys, mut firsts) = (Vec::new(), Vec::new());
    let records: Vec<Vec<Record>> = runs.iter().map(Run::records).collect::<Result<_, _>>()?;
    for (run, records) in runs.iter().zip(&records) {
        let curve = metrics::curve(records, &args.metric);
        // Seeds of one thing: the same settings and the same contents.
        let mut config = run.config().clone();
        (config.seed, config.data.path, config.data.validation) = (0, PathBuf::new(), None);
        let key = (toml::to_string(&config)?, run.manifest().data.content_hash.clone());
        match keys.iter().position(|other| *other == key) {
            Some(at) => groups[at].curves.push(curve),
            None => {
                keys.push(key);
                groups.push(CurveGroup {
                    name: run.manifest().algorithm.clone(),
                    dataset: dataset_label(run),
                    curves: vec![curve],
                });
                firsts.push(run.folder().display().to_string());
            }
        }
    }
    // Algorithms that learned different things are told apart by a run of each.
    let names: Vec<(String, String)> =
        groups.iter().map(|group| (group.name.clone(), group.dataset.clone())).collect();
    for ((group, first), name) in groups.iter_mut().zip(firsts).zip(&names) {
        if names.iter().filter(|other| *other == name).count() > 1 {
            group.name = format!("{} ({first})", name.0);
        }
    }
    if groups.iter().flat_map(|group| &group.curves).all(Vec::is_empty) {
        let known = metrics::names(records.iter().flatten()).join(", ");
        bail!("--metric {}: no run has it; hint: there are {known}", args.metric);
    }
    save(&curve_chart(&args.metric.replace('_', " "), "", &groups).draw(), &args.output)
}
