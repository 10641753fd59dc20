//! A run at one step, on disk.
//!
//! A checkpoint is a folder, there whole or not at all:
//!
//! | file | what |
//! |---|---|
//! | `weights.safetensors` | what is needed to use it: networks, the scale of the data |
//! | `training.safetensors` | what is needed besides to go on: moments of optimisers, target networks |
//! | `checkpoint.json` | step, multipliers, counters, the open window of metrics |
//! | `SHA256SUMS` | of the three; `sha256sum -c` checks them |
//!
//! Random numbers and the order of batches are pure functions of seed and step, so the step is their whole state.

use super::{files, window::Window};
use crate::{error::LearnError, ledger::Snapshot};
use isochrone_nn::store::Archive;
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
const FORMAT: u32 = 1;

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Updates done; also the number of the next batch.
    pub step: u64,
    /// Time spent on them.
    pub seconds: f64,
    /// What was measured since the last line of metrics.
    pub window: Window,
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
    pub snapshot: Snapshot,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    format: u32,
    #[serde(flatten)]
    progress: Progress,
    numbers: BTreeMap<String, f64>,
}

/// The folder that checkpoints lie in.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    /// Of a run.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where the checkpoint of a step is.
    pub fn path(&self, step: u64) -> PathBuf {
        self.folder.join(format!("step-{step:012}"))
    }

    /// All that are there, first to last.
    pub fn steps(&self) -> Result<Vec<u64>, LearnError> {
        let paths = files::entries(&self.folder)?;
        let step = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix("step-")?.parse().ok();
        let mut steps: Vec<u64> = paths.iter().filter_map(step).collect();
        steps.sort_unstable();
        Ok(steps)
    }

    /// Writes one and removes those that nobody needs any more: the last `keep_last` and the best stay.
    pub fn save(
        &self,
        progress: &Progress,
        snapshot: &Snapshot,
        keep_last: usize,
    ) -> Result<PathBuf, LearnError> {
        let path = self.path(progress.step);
        if path.exists() {
            // The same step has the same contents; only a damaged one is written again.
            if self.load(progress.step).is_ok_and(|there| there.snapshot == *snapshot) {
                return Ok(path);
            }
            files::remove_folder(&path)?;
        }
        let contents =
            Contents { format: FORMAT, progress: progress.clone(), numbers: snapshot.numbers.clone() };
        let json = serde_json::to_vec_pretty(&contents).expect("plain data");
        let (weights, training) = (snapshot.weights.to_bytes(), snapshot.training.to_bytes());
        let parts = [(WEIGHTS, &weights[..]), (TRAINING, &training[..]), (PROGRESS, &json[..])];
        let sums: String = parts.iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect();
        let [weights, training, json] = parts;
        files::write_folder(&path, &[weights, training, json, (SUMS, sums.as_bytes())])?;
        self.thin_out(progress, keep_last)?;
        Ok(path)
    }

    fn thin_out(&self, progress: &Progress, keep_last: usize) -> Result<(), LearnError> {
        let steps = self.steps()?;
        let best = progress.best.as_ref().map(|best| best.step);
        for &step in &steps[..steps.len().saturating_sub(keep_last)] {
            if Some(step) != best {
                files::remove_folder(&self.path(step))?;
            }
        }
        Ok(())
    }

    /// Everything of one checkpoint; whatever is damaged is an error that names the file.
    pub fn load(&self, step: u64) -> Result<Checkpoint, LearnError> {
        let path = self.path(step);
        let sums = read(&path.join(SUMS))?;
        let sums = String::from_utf8_lossy(&sums).into_owned();
        let part = |name: &str| {
            let file = path.join(name);
            let bytes = read(&file)?;
            let sum = format!("{}  {name}", sha256(&bytes));
            if sums.lines().any(|line| line == sum) {
                return Ok(bytes);
            }
            Err(LearnError::malformed(
                &file,
                "its SHA-256 is not the one in SHA256SUMS",
                "it is damaged: use another checkpoint",
            ))
        };
        let archive = |name: &str| {
            let bytes = part(name)?;
            let hint = "it is damaged: use another checkpoint";
            Archive::from_bytes(&bytes)
                .map_err(|error| LearnError::malformed(&path.join(name), error.to_string(), hint))
        };
        let (weights, training) = (archive(WEIGHTS)?, archive(TRAINING)?);
        let contents: Contents = serde_json::from_slice(&part(PROGRESS)?).map_err(|error| {
            LearnError::malformed(
                &path.join(PROGRESS),
                error.to_string(),
                "it is damaged: use another checkpoint",
            )
        })?;
        if contents.format != FORMAT || contents.progress.step != step {
            let problem = format!(
                "format {}, step {}, not {FORMAT} and {step}",
                contents.format, contents.progress.step
            );
            return Err(LearnError::malformed(
                &path.join(PROGRESS),
                problem,
                "use the version of isochrone that wrote it",
            ));
        }
        let snapshot = Snapshot { weights, training, numbers: contents.numbers };
        Ok(Checkpoint { progress: contents.progress, snapshot })
    }

    /// The last that is whole, if there is one, and what is wrong with those after it.
    pub fn last_whole(&self) -> Result<(Option<Checkpoint>, Vec<LearnError>), LearnError> {
        let mut damaged = Vec::new();
        for step in self.steps()?.into_iter().rev() {
            match self.load(step) {
                Ok(checkpoint) => return Ok((Some(checkpoint), damaged)),
                Err(error) => damaged.push(error),
            }
        }
        Ok((None, damaged))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, LearnError> {
    fs::read(path).map_err(|error| LearnError::read(path, error))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
