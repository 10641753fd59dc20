use crate::verbs::{report::save, runs::found};
use anyhow::bail;
use isochrone::{
    figures::{Group, curve_chart},
    learn::run::Run,
    plot::Picture,
};
use std::path::PathBuf;

/// A metric over training, averaged over the seeds of each algorithm, with intervals of 95 %
#[derive(clap::Args)]
pub struct Args {
    /// Runs, or folders of runs
    #[arg(default_value = "runs")]
    folders: Vec<PathBuf>,

    /// Which metric; isochrone runs lists them
    #[arg(long, value_name = "NAME", default_value = "evaluation/log_likelihood")]
    metric: String,

    /// The picture (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    Picture::check_path(&args.output)?;
    let runs = found(&args.folders)?;
    let mut groups: Vec<Group> = Vec::new();
    let mut known: Vec<String> = Vec::new();
    for run in &runs {
        let records = run.records()?;
        let names = records.iter().flat_map(|record| &record.values).map(|(name, _)| name);
        for name in names {
            if !known.contains(name) {
                known.push(name.clone());
            }
        }
        let value = |record: &isochrone::learn::run::Record| {
            record.values.iter().find(|(name, _)| *name == args.metric).map(|(_, value)| *value)
        };
        let curve: Vec<(u64, f64)> =
            records.iter().filter_map(|record| Some((record.step, value(record)?))).collect();
        if curve.is_empty() {
            continue;
        }
        let name = name_of(run, &runs);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.curves.push(curve),
            None => groups.push(Group { name, curves: vec![curve] }),
        }
    }
    if groups.is_empty() {
        bail!("--metric {}: no run has it; hint: there are {}", args.metric, known.join(", "));
    }
    save(&curve_chart(&args.metric.replace('_', " "), "", &groups).draw(), &args.output)
}

/// The algorithm, and the data where runs differ in them.
fn name_of(run: &Run, all: &[Run]) -> String {
    let data =
        |run: &Run| run.manifest().data.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let algorithm = &run.manifest().algorithm;
    if all.iter().all(|other| data(other) == data(run)) {
        algorithm.clone()
    } else {
        format!("{algorithm} on {}", data(run))
    }
}
