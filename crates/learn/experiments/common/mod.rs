//! Shared parts of the experiments: training in memory, parallel jobs, and the provenance of
//! tables.

mod revision;

use isochrone_data::Dataset;
use isochrone_learn::{Algorithm, Model, Preset, Training, settings::parse_assignment};
use std::{convert::Infallible, time::Instant};

/// Returns a training with the small preset of an algorithm, the settings of the experiment, and
/// those of `--set name=value;name=value`. Settings that the algorithm does not have are ignored.
pub fn training(algorithm: Algorithm, settings: &[(&str, &str)]) -> Training {
    let overrides = flag("--set").unwrap_or_default();
    let overrides = overrides.split(';').filter_map(|pair| pair.split_once('='));
    let training = Training::new(algorithm).preset(Preset::Small);
    settings.iter().copied().chain(overrides).fold(training, |training, (name, value)| {
        let (name, value) = parse_assignment(&format!("{name}={value}")).expect("well formed");
        training.set_if_known(&name, value)
    })
}

/// Trains in memory and returns the model and the duration in seconds.
pub fn trained(training: Training, data: &Dataset) -> (Model, f64) {
    let started = Instant::now();
    let model = training.fit(data).unwrap_or_else(|error| panic!("{error}"));
    (model, started.elapsed().as_secs_f64())
}

/// Returns the algorithms of `--algorithms name,name`, or all.
pub fn chosen_algorithms() -> Vec<Algorithm> {
    let chosen = flag("--algorithms");
    let is_chosen = |algorithm: &Algorithm| {
        chosen.as_ref().is_none_or(|names| names.split(',').any(|name| name == algorithm.name()))
    };
    Algorithm::ALL.into_iter().filter(is_chosen).collect()
}

/// Returns the number of a flag; its default is `quick` with the flag `--quick` and `full`
/// otherwise.
pub fn number(name: &str, quick: u64, full: u64) -> u64 {
    let default = if flag("--quick").is_some() { quick } else { full };
    flag(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Runs jobs in parallel, each on one thread, and returns the results in the order of the jobs.
pub fn run_in_parallel<J: Sync, R: Send>(jobs: &[J], run: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let results = isochrone_learn::jobs::run_in_parallel(jobs, |job| Ok::<R, Infallible>(run(job)));
    results.unwrap_or_else(|never| match never {})
}

/// Returns the last line of a table, its provenance.
pub fn provenance(command: &str, data_hash: &str) -> String {
    let revision = revision::revision();
    format!(
        "Made by `{command}`: isochrone {} at revision {revision}, {} {}, data {data_hash}.",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
    )
}

/// Returns the argument after a flag, if the flag is given.
fn flag(name: &str) -> Option<String> {
    let args: Vec<String> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == name)?;
    Some(args.get(at + 1).cloned().unwrap_or_default())
}
