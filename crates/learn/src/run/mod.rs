//! Runs on disk.
//!
//! | file | contents |
//! |---|---|
//! | `config.toml` | the complete configuration |
//! | `manifest.json` | provenance: versions, data hashes, seed, machine |
//! | `status.json` | state and progress |
//! | `metrics.jsonl`, `events.out.tfevents.*` | metrics |
//! | `checkpoints/step-…` | see [`checkpoint`] |
//! | `distilled.safetensors` | recorded time distilled into a network; see [`distill`](crate::distill) |
//! | `sessions.jsonl` | the processes that trained it, with their first steps |
//! | `lock` | held while a process trains |
//! | `refined.npz` | the graph of its data, cached by queries; rebuilt if missing |
//! | `nearest` | the index of nearest states of its data, cached by queries; rebuilt if missing |
//!
//! All of them are regular files and folders; symbolic links are rejected. JSON files and
//! `config.toml` have a `format`, the same number in all of them. Every checkpoint stores the
//! hashes of `config.toml` and `manifest.json`, since its weights are valid only together with
//! them: a run in which they were edited is rejected, unless [`Run::open_with`] accepts the edits.

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
pub use plain::{NEAREST_FOLDER, REFINED_FILE};

use crate::{algorithm::Algorithm, error::LearnError};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, TryLockError},
    io::{ErrorKind, Write as _},
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

/// Options for opening a run.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Whether `config.toml` and `manifest.json` may have been edited since the run started: its
    /// checkpoints are then used with the edited files. New checkpoints belong to the edited run.
    pub accept_edits: bool,
    /// Algorithms of other crates that the run may use.
    pub algorithms: Vec<Algorithm>,
}

/// The state and progress of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The state.
    pub state: State,
    /// The number of updates done.
    pub step: u64,
    /// The training time in seconds.
    pub seconds: f64,
    /// The best evaluation so far.
    pub best: Option<Best>,
    /// Why training ended, if it diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A process is training, or was killed; see [`Run::is_active`].
    Running,
    /// All steps are done.
    Finished,
    /// Training was stopped and can be resumed.
    Stopped,
    /// A value was not finite.
    Diverged,
}

/// An exclusive lock of a run's folder, released when it is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Run {
    /// Creates a run in a folder without one, and locks it.
    ///
    /// # Errors
    /// If the folder already contains a run, or cannot be written.
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
            LearnError::malformed(&path, error.to_string(), "paths must be UTF-8, and integers below 2^63")
        })?;
        let text = format!("{FORMAT_KEY} = {}\n{text}", format::FORMAT);
        manifest.config_sha256 = checkpoint::sha256(text.as_bytes());
        let json = format::to_json(&manifest);
        files::write(&folder.join("manifest.json"), &json)?;
        // Written last: a folder with a configuration is a run.
        files::write(&path, text.as_bytes())?;
        let manifest_sha256 = checkpoint::sha256(&json);
        let identity = Identity { config_sha256: manifest.config_sha256.clone(), manifest_sha256 };
        Ok((Self { folder: folder.into(), config, manifest, identity, accepts_edits: false }, lock))
    }

    /// Checks that a folder contains neither a run nor remains of one, nor files of others at their
    /// places.
    pub fn check_free(folder: &Path) -> Result<(), LearnError> {
        let has_checkpoints = !Checkpoints::new(folder, Identity::default(), false).steps()?.is_empty();
        if folder.join("config.toml").exists() || has_checkpoints {
            return Err(LearnError::RunExists { folder: folder.into() });
        }
        plain::check_free(folder)?;
        // A process that was killed between its first two files leaves a manifest.
        let path = folder.join("manifest.json");
        match fs::read(&path) {
            Ok(json) => match format::from_json::<Manifest>(&path, &json, |_| plain::not_of_a_run(&path)) {
                Ok(_) => Ok(()),
                Err(_) => Err(plain::not_of_a_run(&path)),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(LearnError::read(&path, error)),
        }
    }

    /// Opens a run.
    ///
    /// # Errors
    /// If the folder is not a run or has another format, contains a symbolic link, or `config.toml`
    /// or `manifest.json` was edited.
    pub fn open(folder: &Path) -> Result<Self, LearnError> {
        Self::open_with(folder, &OpenOptions::default())
    }

    /// Opens a run of an algorithm of another crate, or one that was edited.
    pub fn open_with(folder: &Path, options: &OpenOptions) -> Result<Self, LearnError> {
        let path = folder.join("config.toml");
        if !path.exists() {
            let (problem, hint) = ("not a run: it has no config.toml", "specify the folder of a run");
            return Err(LearnError::malformed(folder, problem, hint));
        }
        plain::check(folder)?;
        let text = read(&path)?;
        let (format, table) = versioned_table(&path, &text)?;
        format::check(&path, format)?;
        let manifest_path = folder.join("manifest.json");
        let json = read(&manifest_path)?;
        let corrupt = |problem| LearnError::malformed(&manifest_path, problem, CORRUPT);
        let manifest: Manifest = format::from_json(&manifest_path, &json, corrupt)?;
        // Each file is read only once, so that the contents that are checked are those that are
        // used.
        let identity =
            Identity { config_sha256: checkpoint::sha256(&text), manifest_sha256: checkpoint::sha256(&json) };
        let started = Identity { config_sha256: manifest.config_sha256.clone(), ..identity.clone() };
        let accepts_edits = options.accept_edits;
        Checkpoints::new(folder, identity.clone(), accepts_edits).check_run(&started)?;
        let config = RunConfig::from_table(table, &options.algorithms).map_err(|error| {
            let problem = format!("{} = {}: {}", error.field, error.value, error.problem);
            LearnError::malformed(&path, problem, error.hint)
        })?;
        config.check()?;
        let data = std::iter::once(&manifest.data).chain(&manifest.validation);
        for hash in data.map(|data| &data.content_hash).chain([&manifest.config_sha256]) {
            if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(corrupt(format!("{hash} is not a SHA-256: 64 hexadecimal digits")));
            }
        }
        manifest.data.spec.check().map_err(|problem| corrupt(problem.to_string()))?;
        Ok(Self { folder: folder.into(), config, manifest, identity, accepts_edits })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The configuration.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::new(&self.folder, self.identity.clone(), self.accepts_edits)
    }

    /// Reads all metrics records.
    pub fn records(&self) -> Result<Vec<Record>, LearnError> {
        metrics::read(&self.folder.join("metrics.jsonl"))
    }

    /// Reads the status; that of a run before its first update if there is no `status.json`.
    pub fn status(&self) -> Result<Status, LearnError> {
        let path = self.folder.join("status.json");
        if !path.exists() {
            return Ok(Status { state: State::Running, step: 0, seconds: 0.0, best: None, reason: None });
        }
        const HINT: &str = "remove the file: it is written again when training resumes";
        format::from_json(&path, &read(&path)?, |problem| LearnError::malformed(&path, problem, HINT))
    }

    pub(crate) fn set_status(&self, status: &Status) -> Result<(), LearnError> {
        files::write(&self.folder.join("status.json"), &format::to_json(status))
    }

    /// Whether a process is training it now.
    pub fn is_active(&self) -> bool {
        let file = File::open(self.folder.join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Returns a one-word label; a running state without a process is "interrupted".
    pub fn status_label(&self, state: State) -> &'static str {
        match state {
            State::Running if self.is_active() => "running",
            State::Running => "interrupted",
            State::Finished => "finished",
            State::Stopped => "stopped",
            State::Diverged => "diverged",
        }
    }

    /// Locks the run for training and removes what an interrupted process left.
    ///
    /// # Errors
    /// If another process holds the lock.
    pub fn lock(&self) -> Result<Lock, LearnError> {
        let lock = Lock::take(&self.folder)?;
        let checkpoints = self.folder.join("checkpoints");
        fs::create_dir_all(&checkpoints).map_err(|error| LearnError::write(&checkpoints, error))?;
        files::sweep(&self.folder, &[])?;
        files::sweep(&checkpoints, &checkpoint::FILES)?;
        Ok(lock)
    }

    /// Logs that this process trains from a step on.
    pub(crate) fn log_session(&self, step: u64, made_by: &Provenance) -> Result<(), LearnError> {
        let path = self.folder.join("sessions.jsonl");
        let session = serde_json::json!({ "from_step": step, "made_by": made_by, "run": self.identity });
        writeln!(plain::append(&path)?, "{session}").map_err(|error| LearnError::write(&path, error))
    }
}

impl Lock {
    /// Locks a folder. Retries for a moment, since [`Run::is_active`] holds the lock for an
    /// instant.
    ///
    /// # Errors
    /// If another process holds the lock.
    pub fn take(folder: &Path) -> Result<Self, LearnError> {
        let path = folder.join("lock");
        let file = plain::append(&path)?;
        for _ in 0..20 {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
                Err(TryLockError::Error(error)) if is_without_locks(&error) => {
                    let problem = format!("its file system has no locks ({error})");
                    return Err(LearnError::malformed(folder, problem, "train on a local disk"));
                }
                Err(TryLockError::Error(error)) => return Err(LearnError::write(&path, error)),
            }
        }
        Err(LearnError::malformed(folder, "another process is training here", "wait for it, or stop it"))
    }
}

/// Whether a file system cannot lock: "no locks available", "not implemented", "not supported".
fn is_without_locks(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported || (cfg!(target_os = "linux") && error.raw_os_error() == Some(37))
}

impl RunConfig {
    /// Reads a configuration file, which may be incomplete, as a table. The format may be missing.
    pub fn read_table(path: &Path) -> Result<toml::Table, LearnError> {
        let (format, table) = versioned_table(path, &read(path)?)?;
        if format.is_some() {
            format::check(path, format)?;
        }
        Ok(table)
    }
}

/// The hint for a JSON file that cannot be read.
const CORRUPT: &str = "the file is corrupt: restore it from a backup";

/// The key of the format in `config.toml`, which is not a setting.
const FORMAT_KEY: &str = "format";

/// Returns the format of a configuration file, if it has one, and its settings.
fn versioned_table(path: &Path, text: &[u8]) -> Result<(Option<u32>, toml::Table), LearnError> {
    let malformed = |problem: String| {
        LearnError::malformed(path, problem.replace('\n', " "), "invalid TOML: correct the line")
    };
    let text = str::from_utf8(text).map_err(|error| malformed(error.to_string()))?;
    let mut table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| malformed(error.to_string()))?;
    let format = table.remove(FORMAT_KEY);
    // Anything but a small integer is not a known format.
    Ok((format.map(|found| found.as_integer().and_then(|n| n.try_into().ok()).unwrap_or(0)), table))
}

fn read(path: &Path) -> Result<Vec<u8>, LearnError> {
    fs::read(path).map_err(|error| LearnError::read(path, error))
}
