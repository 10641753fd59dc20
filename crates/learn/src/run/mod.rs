//! A run on disk.
//!
//! | in the folder | what |
//! |---|---|
//! | `config.toml` | everything that decides what it does |
//! | `manifest.json` | where it came from: versions, data hashes, seed, machine |
//! | `status.json` | how far it is |
//! | `metrics.jsonl`, `events.out.tfevents.*` | what was measured |
//! | `checkpoints/step-…` | see [`checkpoint`] |
//! | `sessions.jsonl` | who trained it from which step on |
//! | `lock` | held while a process trains |

pub mod checkpoint;
mod config;
mod files;
mod manifest;
pub mod metrics;
pub mod overrides;
mod tensorboard;
mod window;
mod wishes;

pub use checkpoint::{Best, Checkpoint, Checkpoints, Progress};
pub use config::{CheckpointConfig, DataConfig, MetricsConfig, RunConfig};
pub use files::write as write_file;
pub use manifest::{DataFacts, MadeBy, Manifest};
pub use metrics::{MetricsLog, Record};
pub use window::Window;
pub use wishes::Wishes;

use crate::error::LearnError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
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
    /// Begins a run in a folder of its own, with the right to train in it.
    ///
    /// # Errors
    /// If there is already a run in the folder, or another process is about to make one.
    pub fn create(
        folder: &Path,
        config: RunConfig,
        mut manifest: Manifest,
    ) -> Result<(Self, Lock), LearnError> {
        let checkpoints = folder.join("checkpoints");
        fs::create_dir_all(&checkpoints).map_err(|error| LearnError::write(&checkpoints, error))?;
        let lock = Lock::take(folder)?;
        Self::check_free(folder)?;
        let path = folder.join("config.toml");
        let text = toml::to_string_pretty(&config).map_err(|error| {
            LearnError::malformed(&path, error.to_string(), "paths must be text, and numbers below 2^63")
        })?;
        manifest.config_sha256 = checkpoint::sha256(text.as_bytes());
        files::write(
            &folder.join("manifest.json"),
            &serde_json::to_vec_pretty(&manifest).expect("plain data"),
        )?;
        // Last: a folder with a configuration is a run.
        files::write(&path, text.as_bytes())?;
        Ok((Self { folder: folder.into(), config, manifest }, lock))
    }

    /// Refuses a folder with a run in it, or the remains of one.
    pub fn check_free(folder: &Path) -> Result<(), LearnError> {
        let has_checkpoints = !Checkpoints::new(folder.join("checkpoints")).steps()?.is_empty();
        if folder.join("config.toml").exists() || has_checkpoints {
            let hint = "say --resume to go on with it, or choose another --run";
            return Err(LearnError::malformed(folder, "there is already a run", hint));
        }
        Ok(())
    }

    /// Opens what [`create`](Self::create) made.
    pub fn open(folder: &Path) -> Result<Self, LearnError> {
        let path = folder.join("config.toml");
        if !path.exists() {
            return Err(LearnError::malformed(
                folder,
                "not a run: it has no config.toml",
                "isochrone runs lists runs; isochrone train makes one",
            ));
        }
        let config = overrides::read::<RunConfig>(RunConfig::read_table(&path)?).map_err(|error| {
            let problem = format!("{} = {}: {}", error.field, error.value, error.problem);
            LearnError::malformed(&path, problem, error.hint)
        })?;
        config.check()?;
        let path = folder.join("manifest.json");
        let manifest: Manifest = read_json(&path)?;
        manifest.data.spec.check().map_err(|(problem, _)| {
            LearnError::malformed(&path, problem, "it is damaged: take it from a copy")
        })?;
        Ok(Self { folder: folder.into(), config, manifest })
    }

    /// Whether `config.toml` is as it was when the run began.
    pub fn is_as_begun(&self) -> bool {
        fs::read(self.folder.join("config.toml"))
            .is_ok_and(|text| checkpoint::sha256(&text) == self.manifest.config_sha256)
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
        Checkpoints::new(self.folder.join("checkpoints"))
    }

    /// What was measured.
    pub fn records(&self) -> Result<Vec<Record>, LearnError> {
        metrics::read(&self.folder.join("metrics.jsonl"))
    }

    /// How far it is; at its start if it never said.
    pub fn status(&self) -> Result<Status, LearnError> {
        let path = self.folder.join("status.json");
        if path.exists() {
            return read_json(&path);
        }
        Ok(Status { state: State::Running, step: 0, seconds: 0.0, best: None, reason: None })
    }

    pub(crate) fn set_status(&self, status: &Status) -> Result<(), LearnError> {
        files::write(
            &self.folder.join("status.json"),
            &serde_json::to_vec_pretty(status).expect("plain data"),
        )
    }

    /// Whether a process trains in it now.
    pub fn is_active(&self) -> bool {
        let file = File::open(self.folder.join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// How it stands, in a word: one that says it is running but has no process was interrupted.
    pub fn standing(&self, state: State) -> &'static str {
        match state {
            State::Running if self.is_active() => "running",
            State::Running => "interrupted",
            State::Finished => "finished",
            State::Stopped => "stopped",
            State::Diverged => "diverged",
        }
    }

    /// Takes the right to train, and clears away what an interrupted process left.
    ///
    /// # Errors
    /// If another process has it.
    pub fn lock(&self) -> Result<Lock, LearnError> {
        let lock = Lock::take(&self.folder)?;
        let checkpoints = self.folder.join("checkpoints");
        fs::create_dir_all(&checkpoints).map_err(|error| LearnError::write(&checkpoints, error))?;
        files::sweep(&self.folder)?;
        files::sweep(&checkpoints)?;
        Ok(lock)
    }

    /// Notes that a process trains from a step on, and with what.
    pub(crate) fn begin_session(&self, step: u64) -> Result<(), LearnError> {
        let path = self.folder.join("sessions.jsonl");
        let session = serde_json::json!({ "from_step": step, "made_by": MadeBy::now() });
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&path);
        let write = file.as_mut().map_err(|error| std::io::Error::from(error.kind()));
        write.and_then(|file| writeln!(file, "{session}")).map_err(|error| LearnError::write(&path, error))
    }
}

impl Lock {
    /// Takes the right to a folder. Waits a moment: whoever only looks whether somebody trains holds the lock for an instant.
    ///
    /// # Errors
    /// If another process has it.
    pub fn take(folder: &Path) -> Result<Self, LearnError> {
        let path = folder.join("lock");
        let file = File::create(&path).map_err(|error| LearnError::write(&path, error))?;
        for _ in 0..20 {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
                Err(TryLockError::Error(error)) => return Err(LearnError::write(&path, error)),
            }
        }
        Err(LearnError::malformed(
            folder,
            "another process trains in it",
            "wait for it, or stop it with Ctrl-C",
        ))
    }
}

impl RunConfig {
    /// Reads a configuration file as a table: not yet complete.
    pub fn read_table(path: &Path) -> Result<toml::Table, LearnError> {
        let text = fs::read_to_string(path).map_err(|error| LearnError::read(path, error))?;
        text.parse().map_err(|error: toml::de::Error| {
            LearnError::malformed(path, error.to_string().replace('\n', " "), "it is not TOML: mend the line")
        })
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, LearnError> {
    let bytes = fs::read(path).map_err(|error| LearnError::read(path, error))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| LearnError::malformed(path, error.to_string(), "it is damaged: take it from a copy"))
}
