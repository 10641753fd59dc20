//! What experiments share: training in memory, jobs side by side, and where a table came from.

use isochrone_data::Dataset;
use isochrone_learn::{Algorithm, Model, Preset, Training, settings::parse_assignment};
use std::{convert::Infallible, time::Instant};

/// A training with the small preset of an algorithm and some settings changed by dotted names, those of the experiment and then
/// `--set name=value;name=value`; settings that the algorithm does not have are left out.
pub fn training(algorithm: Algorithm, settings: &[(&str, &str)]) -> Training {
    let tried = flag("--set").unwrap_or_default();
    let tried = tried.split(';').filter_map(|pair| pair.split_once('='));
    let training = Training::new(algorithm).preset(Preset::Small);
    settings.iter().copied().chain(tried).fold(training, |training, (name, value)| {
        let (name, value) = parse_assignment(&format!("{name}={value}")).expect("well formed");
        training.set_if_known(&name, value)
    })
}

/// What a training in memory learns, and the seconds that it takes.
pub fn trained(training: Training, data: &Dataset) -> (Model, f64) {
    let started = Instant::now();
    let model = training.fit(data).unwrap_or_else(|error| panic!("{error}"));
    (model, started.elapsed().as_secs_f64())
}

/// The algorithms of `--algorithms name,name`, or all.
pub fn chosen_algorithms() -> Vec<Algorithm> {
    let chosen = flag("--algorithms");
    let is_chosen = |algorithm: &Algorithm| {
        chosen.as_ref().is_none_or(|names| names.split(',').any(|name| name == algorithm.name()))
    };
    Algorithm::ALL.into_iter().filter(is_chosen).collect()
}

/// The number of a flag: for `--quick`, and otherwise, one for each.
pub fn number(name: &str, quick: u64, usual: u64) -> u64 {
    let unsaid = if flag("--quick").is_some() { quick } else { usual };
    flag(name).map_or(unsaid, |text| text.parse().expect("a number"))
}

/// Runs every job on a thread of its own, as many at a time as there are cores; results in the order of the jobs.
pub fn run_in_parallel<J: Sync, R: Send>(jobs: &[J], run: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let results = isochrone_learn::jobs::run_in_parallel(jobs, |job| Ok::<R, Infallible>(run(job)));
    results.unwrap_or_else(|never| match never {})
}

/// The last line of a table: what made it.
pub fn provenance(command: &str, data_hash: &str) -> String {
    let revision = isochrone_learn::run::Provenance::revision().unwrap_or("unknown");
    format!(
        "Made by `{command}`: isochrone {} at revision {revision}, {} {}, data {data_hash}.",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
    )
}

/// The value of a flag, or whether it is there.
fn flag(name: &str) -> Option<String> {
    let args: Vec<String> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == name)?;
    Some(args.get(at + 1).cloned().unwrap_or_default())
}
