//! Errors of training and runs. Each names the place, the value and a hint.

pub use crate::device::DeviceError;
use isochrone_core::DiscountError;
use isochrone_data::DataError;
pub use isochrone_nn::error::{ConfigError, ConfigErrorKind, StateError};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of training or of a run on disk.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A setting is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The discount is invalid.
    #[error(transparent)]
    Discount(#[from] DiscountError),
    /// The data cannot be read or sampled.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The device is unknown or unavailable.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A value in the dataset is not finite.
    #[error(
        "episode {episode}, row {row} of {column}: {value} is not a finite number; hint: validate the dataset to list all such values"
    )]
    NotFinite {
        /// The column.
        column: String,
        /// The episode, counted from 0.
        episode: usize,
        /// The row within the episode, counted from 0.
        row: usize,
        /// The value.
        value: f32,
    },
    /// The operating system could not read or write a file.
    #[error("{}: {source}; hint: {hint}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
        /// The remedy.
        hint: &'static str,
    },
    /// A file is malformed.
    #[error("{}: {problem}; hint: {hint}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// The remedy.
        hint: String,
    },
    /// A checkpoint is corrupt.
    #[error("{}: {problem}; hint: the checkpoint is corrupt: use another one, or resume the run from an earlier one", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// An entry of a run's folder is not a regular file or folder.
    #[error(
        "{}: {}, which a run's folder must not contain; hint: replace it with a copy of its target, or remove it",
        path.display(), if *is_link { "a symbolic link" } else { "neither a file nor a folder" }
    )]
    NotPlain {
        /// The entry.
        path: PathBuf,
        /// Whether it is a symbolic link; otherwise it is a pipe, a socket or a device.
        is_link: bool,
    },
    /// A folder that is to be removed contains a file that no run has written.
    #[error("{}: not part of the checkpoint that is to be removed; hint: move it elsewhere", path.display())]
    NotOurs {
        /// The foreign file.
        path: PathBuf,
    },
    /// `config.toml` or `manifest.json` was edited after the run started.
    #[error(
        "{}: edited since {}; hint: restore it from a backup, or accept the edits when opening the run",
        path.display(), since.map_or_else(|| "the run started".to_owned(), |step| format!("the checkpoint of step {step} was saved"))
    )]
    Edited {
        /// The file.
        path: PathBuf,
        /// The checkpoint that was saved with another version of the file; `None` if there is no
        /// checkpoint yet.
        since: Option<u64>,
    },
    /// Another process that trains together with this one failed.
    #[error("process {rank} failed; hint: its own message states the reason")]
    OtherProcess {
        /// The rank of the first process that failed.
        rank: usize,
    },
    /// Processes that train together do not agree.
    #[error(
        "process {rank} has another {what} than this one; hint: start all processes with the same program, settings and dataset, on the same type of processor"
    )]
    ProcessesDiffer {
        /// The rank of the first process that differs.
        rank: usize,
        /// What differs.
        what: &'static str,
    },
    /// A message of another process is malformed.
    #[error("the state that process 0 sent cannot be read; hint: start all processes with the same program")]
    Message,
    /// Several processes train on a device that only one can use.
    #[error("several processes train on the CPU only; hint: use one process, or the CPU")]
    ProcessesNeedCpu,
    /// A file has the format of another version of isochrone.
    #[error(
        "{}: run format {found}, not {expected}; hint: use the version of isochrone that wrote it, or train again", path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The format that this version reads.
        expected: u32,
    },
    /// The folder already contains a run.
    #[error("{}: the folder already contains a run; hint: resume it, or use another folder", folder.display())]
    RunExists {
        /// The folder.
        folder: PathBuf,
    },
    /// A run was started with settings other than those given to resume it.
    #[error(
        "{}: the run was started with {setting} = {found}, not {expected}; hint: use its own settings, or another folder",
        folder.display()
    )]
    OtherSettings {
        /// The folder of the run.
        folder: PathBuf,
        /// The first setting that differs.
        setting: String,
        /// Its value in the run.
        found: String,
        /// The value that was given.
        expected: String,
    },
    /// A run was started with data other than those given to resume it.
    #[error(
        "{}: the contents of the {role} data differ from those that the run in {} was started with; hint: restore the data, or start another run",
        path.display(), folder.display()
    )]
    OtherData {
        /// The path of the run's data.
        path: PathBuf,
        /// `training` or `validation`.
        role: &'static str,
        /// The folder of the run.
        folder: PathBuf,
    },
    /// The validation data and the training data have different widths.
    #[error(
        "validation data: observations of width {} and actions of width {}, not {} and {}; hint: use validation data with the columns of the training data",
        found[0], found[1], expected[0], expected[1]
    )]
    ValidationWidths {
        /// The widths of observations and actions.
        found: [usize; 2],
        /// The widths in the training data.
        expected: [usize; 2],
    },
    /// The model has no distance.
    #[error("the model has no distance; hint: behavior cloning learns none; train another algorithm")]
    NoDistance,
    /// The states of the teacher and of the dataset have different widths.
    #[error(
        "the teacher's states have width {teacher}, those of the dataset {data}; hint: fit the teacher to the same dataset"
    )]
    TeacherWidth {
        /// The width of the teacher's states.
        teacher: usize,
        /// The width of an observation.
        data: usize,
    },
    /// The actions of the teacher and of the dataset have different widths.
    #[error(
        "the teacher's actions have width {teacher}, those of the dataset {data}; hint: use a teacher that was trained on the same columns"
    )]
    TeacherActions {
        /// The width of the teacher's actions.
        teacher: usize,
        /// The width of an action.
        data: usize,
    },
    /// The teacher finds no path between any two sampled states of the dataset.
    #[error(
        "the teacher finds no path between any two states of the dataset; hint: use a dataset with transitions"
    )]
    NothingToDistill,
    /// The model has no policy.
    #[error("the model has no policy; hint: train on data with actions")]
    NoPolicy,
    /// Training produced a value that is not finite.
    #[error("{0}")]
    Diverged(#[from] Divergence),
}

/// Training that stopped because a value was not finite.
#[derive(Debug, Clone, PartialEq, Error)]
#[error(
    "step {step}: {metric} = {value}{}; {}; hint: train again with a lower learning rate or max_grad_norm = 1, and validate the dataset to find outliers",
    last_finite.map_or_else(String::new, |value| format!(" ({value:.6} one step before)")),
    last_checkpoint.as_ref().map_or_else(|| "there is no checkpoint yet".to_owned(), |path| format!("the last valid checkpoint is {}", path.display()))
)]
pub struct Divergence {
    /// The update, counted from 1.
    pub step: u64,
    /// The name of the first value that was not finite.
    pub metric: String,
    /// The value.
    pub value: f64,
    /// Its value one step before, if this process computed it.
    pub last_finite: Option<f64>,
    /// The last checkpoint with finite weights.
    pub last_checkpoint: Option<PathBuf>,
}

impl LearnError {
    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source, hint: "check the path and its read permission" }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        let hint = "check that the folder is writable and the disk is not full";
        Self::Io { path: path.into(), source, hint }
    }

    pub(crate) fn malformed(path: &Path, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Malformed { path: path.into(), problem: problem.into(), hint: hint.into() }
    }
}
