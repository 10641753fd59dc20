//! Checkpoints on disk.
//!
//! A checkpoint is a folder that is written atomically:
//!
//! | file | contents |
//! |---|---|
//! | `weights.safetensors` | what queries need: networks, the scaling of the data |
//! | `training.safetensors` | what resuming needs in addition: optimizer moments, target networks |
//! | `checkpoint.json` | step, multipliers, counters, metrics not yet logged, and the [`Identity`] of the run |
//! | `SHA256SUMS` | checksums of the three files; `sha256sum -c` checks them |
//!
//! Random numbers and the order of batches are pure functions of seed and step, so that the step is
//! their complete state.

use super::{CheckpointConfig, files, format, metric_averager::MetricAverager};
use crate::error::LearnError;
use isochrone_nn::{error::StateError, state_dict::LearnerState, store::Archive};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

const WEIGHTS: &str = "weights.safetensors";
const TRAINING: &str = "training.safetensors";
const PROGRESS: &str = "checkpoint.json";
const SUMS: &str = "SHA256SUMS";
/// All files of a checkpoint.
pub(super) const FILES: [&str; 4] = [WEIGHTS, TRAINING, PROGRESS, SUMS];

/// The identity of a run: SHA-256 of the files that define it. A checkpoint is valid only together
/// with them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// SHA-256 of `config.toml`.
    pub config_sha256: String,
    /// SHA-256 of `manifest.json`.
    pub manifest_sha256: String,
}

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// The number of updates done, which also is the index of the next batch.
    pub step: u64,
    /// The training time in seconds.
    pub seconds: f64,
    /// The metrics since the last record.
    pub window: MetricAverager,
    /// The best evaluation so far.
    pub best: Option<Best>,
}

/// The best evaluation so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The step of the evaluation.
    pub step: u64,
    /// The name of the metric.
    pub metric: String,
    /// The value of the metric.
    pub value: f64,
}

/// A run at one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The progress at that step.
    pub progress: Progress,
    /// The state of the learner.
    pub snapshot: LearnerState,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    run: Identity,
    #[serde(flatten)]
    progress: Progress,
    numbers: BTreeMap<String, f64>,
}

/// The checkpoints of a run.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
    run: Identity,
    /// Whether checkpoints with another identity are accepted.
    accepts_edits: bool,
}

impl Checkpoints {
    /// Returns the checkpoints in a run's folder.
    pub(super) fn new(run_folder: &Path, run: Identity, accepts_edits: bool) -> Self {
        Self { folder: run_folder.join("checkpoints"), run, accepts_edits }
    }

    /// Returns the path of the checkpoint of a step.
    pub fn path(&self, step: u64) -> PathBuf {
        self.folder.join(format!("step-{step:012}"))
    }

    /// Returns the steps of all checkpoints, in ascending order.
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

    /// Writes a checkpoint and removes old ones. The last `keep_last` regular checkpoints, the
    /// newest and the best are kept.
    pub fn save(
        &self,
        progress: &Progress,
        snapshot: &LearnerState,
        config: CheckpointConfig,
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
        self.prune(progress, config)?;
        Ok(path)
    }

    /// Removes old checkpoints, as [`save`](Self::save) does: a process may have been killed before
    /// it had removed all of them.
    pub(crate) fn prune(&self, progress: &Progress, config: CheckpointConfig) -> Result<(), LearnError> {
        let steps: Vec<u64> = self.steps()?.into_iter().filter(|step| *step <= progress.step).collect();
        let best = progress.best.as_ref().map(|best| best.step);
        // A checkpoint that was the best for some time does not displace a regular one.
        let is_regular = |step: &u64| *step == progress.step || step.is_multiple_of(config.every.max(1));
        let regular: Vec<u64> = steps.iter().copied().filter(is_regular).collect();
        let last = &regular[regular.len().saturating_sub(config.keep_last.max(1))..];
        for step in steps.into_iter().filter(|step| Some(*step) != best && !last.contains(step)) {
            match files::remove_folder(&self.path(step), &FILES) {
                // A checkpoint with a foreign file is kept, so that the file is not lost.
                Err(LearnError::NotOurs { .. }) => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }

    /// Removes the checkpoints after a step, which a run resumed from that step writes again.
    ///
    /// # Errors
    /// If one of them contains a foreign file; then none is removed.
    pub fn remove_after(&self, step: u64) -> Result<(), LearnError> {
        let steps = self.steps()?.into_iter().filter(|later| *later > step);
        let later: Vec<PathBuf> = steps.map(|step| self.path(step)).collect();
        later.iter().try_for_each(|path| files::check_contents(path, &FILES))?;
        later.iter().try_for_each(|path| files::remove_folder(path, &FILES))
    }

    /// Loads a complete checkpoint.
    ///
    /// # Errors
    /// [`LearnError::Corrupt`] if a file is missing or was changed; other errors do not imply a
    /// corrupt checkpoint.
    pub fn load(&self, step: u64) -> Result<Checkpoint, LearnError> {
        let mut checkpoint = self.load_weights(step)?;
        checkpoint.snapshot.training = self.archive(step, TRAINING)?;
        Ok(checkpoint)
    }

    /// Loads what queries need from a checkpoint, but not what resuming needs.
    pub fn load_weights(&self, step: u64) -> Result<Checkpoint, LearnError> {
        if !self.path(step).exists() {
            let steps: Vec<String> = self.steps()?.iter().map(u64::to_string).collect();
            let found = if steps.is_empty() { "none".to_owned() } else { steps.join(", ") };
            let hint = format!("existing steps: {found}");
            return Err(LearnError::malformed(&self.path(step), "no such checkpoint", hint));
        }
        let Contents { progress, numbers, .. } = self.contents(step)?;
        let weights = self.archive(step, WEIGHTS)?;
        if let Some(name) = weights.first_non_finite() {
            let problem = format!("{name} has a value that is not finite");
            return Err(LearnError::Corrupt { path: self.path(step).join(WEIGHTS), problem });
        }
        Ok(Checkpoint { progress, snapshot: LearnerState { weights, training: Archive::default(), numbers } })
    }

    /// Returns the SHA-256 of the files that a model is loaded from: the weights and the numbers
    /// beside them.
    ///
    /// # Errors
    /// If the checkpoint is missing or corrupt.
    pub fn model_sha256(&self, step: u64) -> Result<String, LearnError> {
        let sums = [WEIGHTS, PROGRESS].map(|name| self.part(step, name).map(|bytes| sha256(&bytes)));
        let [weights, progress] = sums;
        Ok(sha256((weights? + &progress?).as_bytes()))
    }

    /// Reads everything but the tensors of a checkpoint of this run.
    fn contents(&self, step: u64) -> Result<Contents, LearnError> {
        let path = self.path(step).join(PROGRESS);
        let corrupt = |problem| LearnError::Corrupt { path: path.clone(), problem };
        let contents: Contents = format::from_json(&path, &self.part(step, PROGRESS)?, corrupt)?;
        if contents.progress.step != step {
            return Err(corrupt(format!("it belongs to step {}", contents.progress.step)));
        }
        self.check_identity(&contents.run, Some(step))?;
        Ok(contents)
    }

    /// Checks that the run's files are those that its latest valid checkpoint was saved with or,
    /// without a checkpoint, those that it was `started` with.
    pub(super) fn check_run(&self, started: &Identity) -> Result<(), LearnError> {
        for step in self.steps()?.into_iter().rev() {
            match self.contents(step) {
                Ok(_) => return Ok(()),
                Err(error @ LearnError::Edited { .. }) => return Err(error),
                // Reported when the checkpoint is loaded.
                Err(_) => {}
            }
        }
        self.check_identity(started, None)
    }

    fn check_identity(&self, known: &Identity, since: Option<u64>) -> Result<(), LearnError> {
        if self.accepts_edits || self.run == *known {
            return Ok(());
        }
        let is_same_config = self.run.config_sha256 == known.config_sha256;
        let name = if is_same_config { "manifest.json" } else { "config.toml" };
        Err(LearnError::Edited { path: self.folder.with_file_name(name), since })
    }

    /// Returns the error of a checkpoint that does not fit the configuration of its run.
    pub(crate) fn mismatch(&self, step: u64, problem: &StateError) -> LearnError {
        let hint = "the checkpoint belongs to a configuration other than config.toml";
        LearnError::malformed(&self.path(step), problem.to_string(), hint)
    }

    fn archive(&self, step: u64, name: &str) -> Result<Archive, LearnError> {
        let bytes = self.part(step, name)?;
        let path = self.path(step).join(name);
        Archive::from_bytes(&bytes).map_err(|error| LearnError::Corrupt { path, problem: error.to_string() })
    }

    /// Reads a file and verifies its checksum.
    fn part(&self, step: u64, name: &str) -> Result<Vec<u8>, LearnError> {
        let folder = self.path(step);
        let read = |path: &Path| match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && folder.exists() => {
                Err(LearnError::Corrupt { path: path.into(), problem: "file is missing".into() })
            }
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                Err(LearnError::Corrupt { path: folder.clone(), problem: "not a folder".into() })
            }
            outcome => outcome.map_err(|error| LearnError::read(path, error)),
        };
        let (path, sums) = (folder.join(name), read(&folder.join(SUMS))?);
        let bytes = read(&path)?;
        let sum = format!("{}  {name}", sha256(&bytes));
        if String::from_utf8_lossy(&sums).lines().any(|line| line == sum) {
            return Ok(bytes);
        }
        Err(LearnError::Corrupt { path, problem: "its SHA-256 differs from that in SHA256SUMS".into() })
    }

    /// Loads the latest valid checkpoint, if there is any checkpoint, and returns warnings about
    /// corrupt later ones.
    ///
    /// # Errors
    /// If all checkpoints are corrupt, since restarting would discard what may still be recovered;
    /// if one cannot be read for other reasons.
    pub fn latest_valid(
        &self,
        load: impl Fn(&Self, u64) -> Result<Checkpoint, LearnError>,
    ) -> Result<(Option<Checkpoint>, Vec<String>), LearnError> {
        let mut corrupt = Vec::new();
        for step in self.steps()?.into_iter().rev() {
            match load(self, step) {
                Ok(checkpoint) => {
                    let warning = |error: &LearnError| format!("skipped a corrupt checkpoint: {error}");
                    return Ok((Some(checkpoint), corrupt.iter().map(warning).collect()));
                }
                Err(error @ LearnError::Corrupt { .. }) => corrupt.push(error),
                Err(error) => return Err(error),
            }
        }
        match corrupt.first() {
            Some(LearnError::Corrupt { path, problem }) => {
                let (n, name) = (corrupt.len(), path.file_name().unwrap_or_default().to_string_lossy());
                let problem = format!("none of {n} checkpoints is valid; the last: {name}, {problem}");
                let hint = "restore one from a backup, or start another run";
                Err(LearnError::malformed(&self.folder, problem, hint))
            }
            _ => Ok((None, Vec::new())),
        }
    }
}

/// Returns the SHA-256 of some bytes as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
