//! A run at one step, on disk.
//!
//! A checkpoint is a folder, there whole or not at all:
//!
//! | file | what |
//! |---|---|
//! | `weights.safetensors` | what is needed to use it: networks, the scale of the data |
//! | `training.safetensors` | what is needed besides to go on: moments of optimizers, target networks |
//! | `checkpoint.json` | step, multipliers, counters, the open window of metrics, and the [`Identity`] of the run |
//! | `SHA256SUMS` | of the three; `sha256sum -c` checks them |
//!
//! Random numbers and the order of batches are pure functions of seed and step, so the step is their whole state.

use super::{CheckpointConfig, files, format, metric_averager::MetricAverager};
use crate::error::LearnError;
use isochrone_nn::{error::StateError, state_dict::LearnerState, store::Archive};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

const WEIGHTS: &str = "weights.safetensors";
const TRAINING: &str = "training.safetensors";
const PROGRESS: &str = "checkpoint.json";
const SUMS: &str = "SHA256SUMS";
/// All that a checkpoint has.
pub(super) const FILES: [&str; 4] = [WEIGHTS, TRAINING, PROGRESS, SUMS];

/// What a run is: SHA-256 of the files that say so. A checkpoint means something only together with them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// Of `config.toml`.
    pub config_sha256: String,
    /// Of `manifest.json`.
    pub manifest_sha256: String,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Updates done; also the number of the next batch.
    pub step: u64,
    /// Time spent on them.
    pub seconds: f64,
    /// What was measured since the last line of metrics.
    pub window: MetricAverager,
    /// The best evaluation so far.
    pub best: Option<Best>,
}

/// The best evaluation so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// When it was.
    pub step: u64,
    /// By which number.
    pub metric: String,
    /// What it was.
    pub value: f64,
}

/// A run at one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// How far it had come.
    pub progress: Progress,
    /// What it had learned.
    pub snapshot: LearnerState,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    run: Identity,
    #[serde(flatten)]
    progress: Progress,
    numbers: BTreeMap<String, f64>,
}

/// The folder that checkpoints lie in.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
    run: Identity,
    /// Whether checkpoints of a run of another identity are read.
    accepts_edits: bool,
}

impl Checkpoints {
    /// Those in the folder of a run.
    pub(super) fn new(run_folder: &Path, run: Identity, accepts_edits: bool) -> Self {
        Self { folder: run_folder.join("checkpoints"), run, accepts_edits }
    }

    /// Where the checkpoint of a step is.
    pub fn path(&self, step: u64) -> PathBuf {
        self.folder.join(format!("step-{step:012}"))
    }

    /// All that are there, first to last.
    pub fn steps(&self) -> Result<Vec<u64>, LearnError> {
        let paths = files::entries(&self.folder)?;
        let step = |path: &PathBuf| {
            let step = path.file_name()?.to_str()?.strip_prefix("step-")?.parse().ok()?;
            (self.path(step) == *path).then_some(step)
        };
        let mut steps: Vec<u64> = paths.iter().filter_map(step).collect();
        steps.sort_unstable();
        Ok(steps)
    }

    /// Writes one and removes those that nobody needs any more: the last `keep_last` of the regular ones, the newest and the best stay.
    pub fn save(
        &self,
        progress: &Progress,
        snapshot: &LearnerState,
        kept: CheckpointConfig,
    ) -> Result<PathBuf, LearnError> {
        let path = self.path(progress.step);
        if path.exists() {
            files::remove_folder(&path, &FILES)?;
        }
        let contents =
            Contents { run: self.run.clone(), progress: progress.clone(), numbers: snapshot.numbers.clone() };
        let json = format::to_json(&contents);
        let (weights, training) = (snapshot.weights.to_bytes(), snapshot.training.to_bytes());
        let parts = [(WEIGHTS, &weights[..]), (TRAINING, &training[..]), (PROGRESS, &json[..])];
        let sums: String = parts.iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect();
        let [weights, training, json] = parts;
        files::write_folder(&path, &[weights, training, json, (SUMS, sums.as_bytes())])?;
        self.prune(progress, kept)?;
        Ok(path)
    }

    fn prune(&self, progress: &Progress, kept: CheckpointConfig) -> Result<(), LearnError> {
        let steps: Vec<u64> = self.steps()?.into_iter().filter(|step| *step <= progress.step).collect();
        let best = progress.best.as_ref().map(|best| best.step);
        // One that was the best for a while does not take the place of a regular one.
        let is_regular = |step: &u64| *step == progress.step || step.is_multiple_of(kept.every.max(1));
        let regular: Vec<u64> = steps.iter().copied().filter(is_regular).collect();
        let last = &regular[regular.len().saturating_sub(kept.keep_last.max(1))..];
        for step in steps.into_iter().filter(|step| Some(*step) != best && !last.contains(step)) {
            match files::remove_folder(&self.path(step), &FILES) {
                // Somebody put a file there: a checkpoint too many is better than theirs too few.
                Err(LearnError::NotOurs { .. }) => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }

    /// Removes those after a step: what a run that goes on from there will make again. None if one holds a file that is not ours.
    pub fn remove_after(&self, step: u64) -> Result<(), LearnError> {
        let steps = self.steps()?.into_iter().filter(|later| *later > step);
        let later: Vec<PathBuf> = steps.map(|step| self.path(step)).collect();
        later.iter().try_for_each(|path| files::check_contents(path, &FILES))?;
        later.iter().try_for_each(|path| files::remove_folder(path, &FILES))
    }

    /// Everything of one checkpoint.
    ///
    /// # Errors
    /// [`LearnError::Corrupt`] if something is missing or not what it was; other errors say nothing about the checkpoint.
    pub fn load(&self, step: u64) -> Result<Checkpoint, LearnError> {
        let mut checkpoint = self.load_weights(step)?;
        checkpoint.snapshot.training = self.archive(step, TRAINING)?;
        Ok(checkpoint)
    }

    /// What is needed to use a checkpoint, but not to go on.
    pub fn load_weights(&self, step: u64) -> Result<Checkpoint, LearnError> {
        if !self.path(step).exists() {
            let steps: Vec<String> = self.steps()?.iter().map(u64::to_string).collect();
            let there = if steps.is_empty() { "none yet".to_owned() } else { steps.join(", ") };
            let hint = format!("there are {there}");
            return Err(LearnError::malformed(&self.path(step), "there is no such checkpoint", hint));
        }
        let Contents { progress, numbers, .. } = self.contents(step)?;
        let weights = self.archive(step, WEIGHTS)?;
        Ok(Checkpoint { progress, snapshot: LearnerState { weights, training: Archive::default(), numbers } })
    }

    /// What is not tensors, of a checkpoint of this run.
    fn contents(&self, step: u64) -> Result<Contents, LearnError> {
        let path = self.path(step).join(PROGRESS);
        let damaged = |problem| LearnError::Corrupt { path: path.clone(), problem };
        let contents: Contents = format::from_json(&path, &self.part(step, PROGRESS)?, damaged)?;
        if contents.progress.step != step {
            return Err(damaged(format!("it is of step {}", contents.progress.step)));
        }
        self.check_identity(&contents.run, Some(step))?;
        Ok(contents)
    }

    /// Refuses a run whose files are not those that its last whole checkpoint was saved with; without one, those it `began` with.
    pub(super) fn check_run(&self, began: &Identity) -> Result<(), LearnError> {
        for step in self.steps()?.into_iter().rev() {
            match self.contents(step) {
                Ok(_) => return Ok(()),
                Err(error @ LearnError::Edited { .. }) => return Err(error),
                // Whoever loads it says so.
                Err(_) => {}
            }
        }
        self.check_identity(began, None)
    }

    fn check_identity(&self, known: &Identity, since: Option<u64>) -> Result<(), LearnError> {
        if self.accepts_edits || self.run == *known {
            return Ok(());
        }
        let is_same_config = self.run.config_sha256 == known.config_sha256;
        let name = if is_same_config { "manifest.json" } else { "config.toml" };
        Err(LearnError::Edited { path: self.folder.with_file_name(name), since })
    }

    /// The error of a checkpoint that does not fit its run.
    pub(crate) fn other(&self, step: u64, problem: &StateError) -> LearnError {
        let hint = "it belongs to another configuration than config.toml";
        LearnError::malformed(&self.path(step), problem.to_string(), hint)
    }

    fn archive(&self, step: u64, name: &str) -> Result<Archive, LearnError> {
        let bytes = self.part(step, name)?;
        let path = self.path(step).join(name);
        Archive::from_bytes(&bytes).map_err(|error| LearnError::Corrupt { path, problem: error.to_string() })
    }

    /// A file whose contents are those that were written.
    fn part(&self, step: u64, name: &str) -> Result<Vec<u8>, LearnError> {
        let folder = self.path(step);
        let read = |path: &Path| match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && folder.exists() => {
                Err(LearnError::Corrupt { path: path.into(), problem: "it is missing".into() })
            }
            outcome => outcome.map_err(|error| LearnError::read(path, error)),
        };
        let (path, sums) = (folder.join(name), read(&folder.join(SUMS))?);
        let bytes = read(&path)?;
        let sum = format!("{}  {name}", sha256(&bytes));
        if String::from_utf8_lossy(&sums).lines().any(|line| line == sum) {
            return Ok(bytes);
        }
        Err(LearnError::Corrupt { path, problem: "its SHA-256 is not the one in SHA256SUMS".into() })
    }

    /// The last that is whole, nothing where there is none at all, and warnings about those after it.
    ///
    /// # Errors
    /// If there are some and none is whole: to begin again would throw away what may still be saved. If one cannot be read for other reasons.
    pub fn latest_valid(
        &self,
        load: impl Fn(&Self, u64) -> Result<Checkpoint, LearnError>,
    ) -> Result<(Option<Checkpoint>, Vec<String>), LearnError> {
        let mut damaged = Vec::new();
        for step in self.steps()?.into_iter().rev() {
            match load(self, step) {
                Ok(checkpoint) => {
                    let warning = |error: &LearnError| format!("passed over a damaged checkpoint: {error}");
                    return Ok((Some(checkpoint), damaged.iter().map(warning).collect()));
                }
                Err(error @ LearnError::Corrupt { .. }) => damaged.push(error),
                Err(error) => return Err(error),
            }
        }
        match damaged.first() {
            Some(LearnError::Corrupt { path, problem }) => {
                let (n, name) = (damaged.len(), path.file_name().unwrap_or_default().to_string_lossy());
                let problem = format!("none of {n} checkpoints is whole; of the last: {name}, {problem}");
                let hint = "take one from a copy, or begin another run";
                Err(LearnError::malformed(&self.folder, problem, hint))
            }
            _ => Ok((None, Vec::new())),
        }
    }
}

/// The hash of some bytes, as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
