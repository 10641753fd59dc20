//! Runs of a study: trained once, and found again.

use isochrone_data::Dataset;
use isochrone_learn::{
    algos::Algorithm,
    error::LearnError,
    evaluation::Evaluation,
    parts::Size,
    run::{DataConfig, DataFacts, Lock, Manifest, Run, RunConfig, State, Wishes, overrides},
    trainer::{Outcome, Trainer},
};
use serde::de::DeserializeOwned;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};
use toml::{Table, Value};

/// Why a study stopped.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A data set and where it lies.
#[derive(Clone, Copy)]
pub(super) struct Logs<'a> {
    pub path: &'a Path,
    pub data: &'a Arc<Dataset>,
}

/// The configuration of a run: settings for all methods that have them, then a method's own, then what decides the run.
pub(super) fn configured(
    algorithm: Algorithm,
    common: &Table,
    own: &Table,
    decided: Vec<(String, Value)>,
    logs: Logs<'_>,
) -> Result<RunConfig, LearnError> {
    let preset = Table::try_from(algorithm.preset(Size::Small)).expect("a table");
    let is_known = |name: &str| {
        let name = name.strip_prefix("learner.").unwrap_or(name);
        overrides::get(&preset, name).is_some()
    };
    let common = common.iter().filter(|(name, _)| is_known(name));
    let mut said: Vec<(String, Value)> =
        common.chain(own).map(|(name, value)| (name.clone(), value.clone())).collect();
    said.extend(decided);
    let wishes = Wishes { file: None, overrides: said, algorithm: Some(algorithm), size: Size::Small };
    wishes.resolve(DataConfig { path: logs.path.to_owned(), ..DataConfig::default() }, logs.data.index())
}

/// The folder of a study, made if it is not there, and a lock on it.
pub(super) fn study_folder(folder: &Path) -> Result<(PathBuf, Lock), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("{}: {error}; hint: choose another --output", folder.display()))?;
    let folder = std::path::absolute(folder)?;
    if folder.join("config.toml").exists() {
        return Err(format!(
            "{}: it is the folder of a run; hint: choose another --output",
            folder.display()
        )
        .into());
    }
    let lock = Lock::take(&folder)?;
    Ok((folder, lock))
}

/// The methods of a study that `has_entry` knows, in the order of tables.
pub(super) fn methods_of(has_entry: impl Fn(&str) -> bool) -> Vec<Algorithm> {
    Algorithm::ALL.into_iter().filter(|algorithm| has_entry(algorithm.name())).collect()
}

/// Those of a study's methods that were asked for; all for none.
pub(super) fn chosen(all: &[Algorithm], asked: &[Algorithm]) -> Result<Vec<Algorithm>, Failure> {
    match asked.iter().find(|method| !all.contains(method)) {
        Some(unknown) => {
            Err(format!("--methods {}: it is not part of this study; hint: leave it out", unknown.name())
                .into())
        }
        None => Ok(all.iter().copied().filter(|method| asked.is_empty() || asked.contains(method)).collect()),
    }
}

/// A judgement that was made before, if it is there, whole, and of what is to be judged.
pub(super) fn kept<V: DeserializeOwned>(path: &Path, is_of_this: impl Fn(&V) -> bool) -> Option<V> {
    let verdict = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    Some(verdict).filter(is_of_this)
}

/// A number of a configuration.
pub(super) fn integer(value: u64) -> Value {
    Value::Integer(i64::try_from(value).expect("a small number"))
}

/// Trains a run to its end, or finds it done; `None` if it was stopped.
pub(super) fn trained(
    folder: &Path,
    config: &RunConfig,
    logs: Logs<'_>,
    evaluation: Option<impl Evaluation>,
    stop: &AtomicBool,
) -> Result<Option<(Run, Lock)>, Failure> {
    let (run, lock) = if folder.join("config.toml").exists() {
        let run = Run::open(folder)?;
        let lock = run.lock()?;
        (run, lock)
    } else {
        let facts = DataFacts::of(logs.path, logs.data);
        Run::create(folder, config.clone(), Manifest::now(&config.learner, config.seed, facts, None))?
    };
    if !is_same(run.config(), config) {
        return Err(format!(
            "{}: the run was begun with other settings; hint: choose another --output, or remove it",
            folder.display()
        )
        .into());
    }
    if run.manifest().data.content_hash != logs.data.content_hash() {
        return Err(format!(
            "{}: the run learned from other recordings; hint: choose another --output, or remove it",
            folder.display()
        )
        .into());
    }
    if run.status()?.state != State::Finished {
        let device = isochrone_learn::cpu();
        let mut trainer = Trainer::new(&run, logs.data.clone(), &device, &mut ())?;
        if let Some(evaluation) = evaluation {
            trainer = trainer.with_evaluation(evaluation);
        }
        if trainer.train(&mut (), stop)? == Outcome::Stopped {
            return Ok(None);
        }
    }
    Ok(Some((run, lock)))
}

/// Whether two configurations say the same, wherever the data lie.
fn is_same(one: &RunConfig, other: &RunConfig) -> bool {
    let mut one = one.clone();
    one.data.path.clone_from(&other.data.path);
    one == *other
}
