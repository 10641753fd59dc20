//! A run on disk.
//!
//! | in the folder | what |
//! |---|---|
//! | `config.toml` | everything that decides what it does |
//! | `manifest.json` | where it came from: versions, data hashes, seed, machine |
//! | `status.json` | how far it is |
//! | `metrics.jsonl`, `events.out.tfevents.*` | what was measured |
//! | `checkpoints/step-…` | see [`checkpoint`] |
//! | `distilled.safetensors` | recorded time, distilled into a network; see [`distill`](crate::distill) |
//! | `sessions.jsonl` | who trained it from which step on |
//! | `lock` | held while a process trains |
//! | `refined.npz` | the graph of its data, kept by those who ask it; without it, it is built again |
//!
//! All of them are plain files and folders: links are refused. Files of JSON and `config.toml` have a `format`, one number for all.
//! Every checkpoint knows the hashes of `config.toml` and `manifest.json`, since its numbers mean something else under others: a run
//! in which they were edited is refused, unless it is opened by [`Run::open_with`].

pub mod checkpoint;
mod config;
mod config_builder;
mod files;
mod format;
mod manifest;
mod metric_averager;
pub mod metrics;
mod plain;
mod tensorboard;

pub use checkpoint::{Best, Checkpoint, Checkpoints, Identity, Progress};
pub use config::{CheckpointConfig, DataConfig, MetricsConfig, RunConfig};
pub(crate) use config_builder::{Assignment, ConfigBuilder};
pub use files::write as write_file;
pub use manifest::{DatasetInfo, Manifest, Provenance};
pub use metric_averager::MetricAverager;
pub use metrics::{MetricsLog, Record};
pub use plain::REFINED_FILE;

use crate::{algorithm::Algorithm, error::LearnError};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, TryLockError},
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// The folder of a run.
#[derive(Debug)]
pub struct Run {
    folder: PathBuf,
    config: RunConfig,
    manifest: Manifest,
    identity: Identity,
    accepts_edits: bool,
}

/// How a run is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Whether `config.toml` and `manifest.json` may have been edited since the run started: its checkpoints are taken for what those files now say, whatever
    /// they were trained with. Checkpoints that it saves are of the edited run.
    pub accept_edits: bool,
    /// Algorithms that the run may be of, besides those of this crate.
    pub algorithms: Vec<Algorithm>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Whether it goes on.
    pub state: State,
    /// Updates done.
    pub step: u64,
    /// Time spent on them.
    pub seconds: f64,
    /// The best evaluation.
    pub best: Option<Best>,
    /// Why it ended, where that needs words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A process trains, or was killed: see [`Run::is_active`].
    Running,
    /// All steps are done.
    Finished,
    /// Somebody asked it to stop; it can go on.
    Stopped,
    /// A number was not finite.
    Diverged,
}

/// The right to train in a folder; gone when it is dropped, or the process ends in whatever way.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Run {
    /// Begins a run in a folder of its own, in which there is none yet, with the right to train in it.
    pub fn create(
        folder: &Path,
        config: RunConfig,
        mut manifest: Manifest,
    ) -> Result<(Self, Lock), LearnError> {
        plain::check(folder)?;
        let checkpoints = folder.join("checkpoints");
        fs::create_dir_all(&checkpoints).map_err(|error| LearnError::write(&checkpoints, error))?;
        let lock = Lock::take(folder)?;
        Self::check_free(folder)?;
        let path = folder.join("config.toml");
        let text = toml::to_string_pretty(&config).map_err(|error| {
            LearnError::malformed(&path, error.to_string(), "paths must be text, and numbers below 2^63")
        })?;
        let text = format!("{FORMAT_KEY} = {}\n{text}", format::FORMAT);
        manifest.config_sha256 = checkpoint::sha256(text.as_bytes());
        let json = format::to_json(&manifest);
        files::write(&folder.join("manifest.json"), &json)?;
        // Last: a folder with a configuration is a run.
        files::write(&path, text.as_bytes())?;
        let manifest_sha256 = checkpoint::sha256(&json);
        let identity = Identity { config_sha256: manifest.config_sha256.clone(), manifest_sha256 };
        Ok((Self { folder: folder.into(), config, manifest, identity, accepts_edits: false }, lock))
    }

    /// Refuses a folder with a run in it, or the remains of one.
    pub fn check_free(folder: &Path) -> Result<(), LearnError> {
        let has_checkpoints = !Checkpoints::new(folder, Identity::default(), false).steps()?.is_empty();
        if folder.join("config.toml").exists() || has_checkpoints {
            return Err(LearnError::RunExists { folder: folder.into() });
        }
        Ok(())
    }

    /// Opens what [`create`](Self::create) made.
    ///
    /// # Errors
    /// If it is not a run, or one of another version; if there is a link in it; if `config.toml` or `manifest.json` were edited.
    pub fn open(folder: &Path) -> Result<Self, LearnError> {
        Self::open_with(folder, &OpenOptions::default())
    }

    /// Opens a run of an algorithm that this crate does not have, or one that was edited.
    pub fn open_with(folder: &Path, options: &OpenOptions) -> Result<Self, LearnError> {
        let path = folder.join("config.toml");
        if !path.exists() {
            let (problem, hint) = ("not a run: it has no config.toml", "give the folder of a run");
            return Err(LearnError::malformed(folder, problem, hint));
        }
        plain::check(folder)?;
        let text = read(&path)?;
        let (format, table) = versioned_table(&path, &text)?;
        format::check(&path, format)?;
        let manifest_path = folder.join("manifest.json");
        let json = read(&manifest_path)?;
        let damaged = |problem| LearnError::malformed(&manifest_path, problem, DAMAGED);
        let manifest: Manifest = format::from_json(&manifest_path, &json, damaged)?;
        // Each was read once: what is checked is what is used.
        let identity =
            Identity { config_sha256: checkpoint::sha256(&text), manifest_sha256: checkpoint::sha256(&json) };
        let began = Identity { config_sha256: manifest.config_sha256.clone(), ..identity.clone() };
        let accepts_edits = options.accept_edits;
        Checkpoints::new(folder, identity.clone(), accepts_edits).check_run(&began)?;
        let config = RunConfig::from_table(table, &options.algorithms).map_err(|error| {
            let problem = format!("{} = {}: {}", error.field, error.value, error.problem);
            LearnError::malformed(&path, problem, error.hint)
        })?;
        config.check()?;
        manifest.data.spec.check().map_err(|problem| damaged(problem.to_string()))?;
        Ok(Self { folder: folder.into(), config, manifest, identity, accepts_edits })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What decides what it does.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// Where it came from.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its checkpoints.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::new(&self.folder, self.identity.clone(), self.accepts_edits)
    }

    /// What was measured.
    pub fn records(&self) -> Result<Vec<Record>, LearnError> {
        metrics::read(&self.folder.join("metrics.jsonl"))
    }

    /// How far it is; at its start if it never said.
    pub fn status(&self) -> Result<Status, LearnError> {
        let path = self.folder.join("status.json");
        if !path.exists() {
            return Ok(Status { state: State::Running, step: 0, seconds: 0.0, best: None, reason: None });
        }
        format::from_json(&path, &read(&path)?, |problem| LearnError::malformed(&path, problem, DAMAGED))
    }

    pub(crate) fn set_status(&self, status: &Status) -> Result<(), LearnError> {
        files::write(&self.folder.join("status.json"), &format::to_json(status))
    }

    /// Whether a process trains in it now.
    pub fn is_active(&self) -> bool {
        let file = File::open(self.folder.join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// How it stands, in a word: one that says it is running but has no process was interrupted.
    pub fn status_label(&self, state: State) -> &'static str {
        match state {
            State::Running if self.is_active() => "running",
            State::Running => "interrupted",
            State::Finished => "finished",
            State::Stopped => "stopped",
            State::Diverged => "diverged",
        }
    }

    /// Takes the right to train, if no other process has it, and clears away what an interrupted one left.
    pub fn lock(&self) -> Result<Lock, LearnError> {
        let lock = Lock::take(&self.folder)?;
        let checkpoints = self.folder.join("checkpoints");
        fs::create_dir_all(&checkpoints).map_err(|error| LearnError::write(&checkpoints, error))?;
        files::sweep(&self.folder, &[])?;
        files::sweep(&checkpoints, &checkpoint::FILES)?;
        Ok(lock)
    }

    /// Notes that a process trains from a step on, and with what.
    pub(crate) fn begin_session(&self, step: u64) -> Result<(), LearnError> {
        let path = self.folder.join("sessions.jsonl");
        let session =
            serde_json::json!({ "from_step": step, "made_by": Provenance::now(), "run": self.identity });
        writeln!(plain::append(&path)?, "{session}").map_err(|error| LearnError::write(&path, error))
    }
}

impl Lock {
    /// Takes the right to a folder, if no other process has it. Waits a moment: whoever only looks holds the lock for an instant.
    pub fn take(folder: &Path) -> Result<Self, LearnError> {
        let path = folder.join("lock");
        let file = plain::append(&path)?;
        for _ in 0..20 {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
                Err(TryLockError::Error(error)) => return Err(LearnError::write(&path, error)),
            }
        }
        Err(LearnError::malformed(folder, "another process trains in it", "wait for it, or stop it"))
    }
}

impl RunConfig {
    /// Reads a configuration file as a table: not yet complete. One that was not written by a run need not have a format.
    pub fn read_table(path: &Path) -> Result<toml::Table, LearnError> {
        let (format, table) = versioned_table(path, &read(path)?)?;
        if format.is_some() {
            format::check(path, format)?;
        }
        Ok(table)
    }
}

/// The hint of a file of JSON that cannot be read.
const DAMAGED: &str = "it is damaged: take it from a copy";

/// In `config.toml`, the number of the format; not a setting.
const FORMAT_KEY: &str = "format";

/// The format of a configuration file, if it says one, and the rest of it.
fn versioned_table(path: &Path, text: &[u8]) -> Result<(Option<u32>, toml::Table), LearnError> {
    let malformed = |problem: String| {
        LearnError::malformed(path, problem.replace('\n', " "), "it is not TOML: mend the line")
    };
    let text = str::from_utf8(text).map_err(|error| malformed(error.to_string()))?;
    let mut table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| malformed(error.to_string()))?;
    let format = table.remove(FORMAT_KEY);
    // What is not a small number is no format of ours.
    Ok((format.map(|found| found.as_integer().and_then(|n| n.try_into().ok()).unwrap_or(0)), table))
}

fn read(path: &Path) -> Result<Vec<u8>, LearnError> {
    fs::read(path).map_err(|error| LearnError::read(path, error))
}
