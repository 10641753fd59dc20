//! What experiments share: a bare training loop on one thread, jobs side by side, and where a table came from.

mod job;

pub use job::Job;

use isochrone_learn::{
    algos::{Algorithm, AlgorithmConfig},
    parts::Size,
    run::overrides,
};
use std::convert::Infallible;

/// The small preset of an algorithm with some settings changed by dotted names, those of the experiment and then `--set name=value;name=value`; what the
/// algorithm has not is left out.
pub fn learner(algorithm: Algorithm, settings: &[(&str, &str)]) -> AlgorithmConfig {
    let tried = flag("--set").unwrap_or_default();
    let tried = tried.split(';').filter_map(|pair| pair.split_once('='));
    let mut table = toml::Table::try_from(algorithm.preset(Size::Small)).expect("a table");
    for (name, value) in settings.iter().copied().chain(tried) {
        if overrides::get(&table, name).is_none() {
            continue;
        }
        let (name, value) = overrides::parse(&format!("{name}={value}")).expect("well formed");
        overrides::set(&mut table, &name, value);
    }
    overrides::read(table).unwrap_or_else(|error| panic!("{error}"))
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
pub fn side_by_side<J: Sync, R: Send>(jobs: &[J], run: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let results = isochrone_learn::jobs::side_by_side(jobs, |job| Ok::<R, Infallible>(run(job)));
    results.unwrap_or_else(|never| match never {})
}

/// The last line of a table: what made it.
pub fn provenance(command: &str, data_hash: &str) -> String {
    let revision = isochrone_learn::run::MadeBy::revision().unwrap_or("unknown");
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
