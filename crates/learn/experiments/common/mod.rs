//! What experiments share: a bare training loop on one thread, jobs side by side, and where a table came from.

mod job;

pub use job::Job;

use isochrone_learn::{algos::AlgorithmConfig, run::overrides};
use std::{
    num::NonZeroUsize,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Settings of a learner with some changed by dotted names; those that it has not are left out.
pub fn with(learner: AlgorithmConfig, settings: &[(&str, &str)]) -> AlgorithmConfig {
    let mut table = toml::Table::try_from(learner).expect("a table");
    for (name, value) in settings {
        if overrides::get(&table, name).is_none() {
            continue;
        }
        let (name, value) = overrides::parse(&format!("{name}={value}")).expect("well formed");
        overrides::set(&mut table, &name, value);
    }
    overrides::read(table).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs every job on a thread of its own, as many at a time as there are cores; results in the order of the jobs.
pub fn side_by_side<J: Sync, R: Send>(jobs: &[J], run: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                // Kernels that look for threads find one: this one.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let result = pool.install(|| run(job));
                    results.lock().expect("no one panics with it").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no one panicked");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
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
pub fn flag(name: &str) -> Option<String> {
    let args: Vec<String> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == name)?;
    Some(args.get(at + 1).cloned().unwrap_or_default())
}

/// Further settings, for whoever tries something out: `--set name=value;name=value`.
pub fn further_settings() -> Vec<(String, String)> {
    let text = flag("--set").unwrap_or_default();
    let pairs = text.split(';').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
