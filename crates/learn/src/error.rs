//! Everything that can go wrong with learning: the place, the value, the hint.

use isochrone_core::DiscountError;
use isochrone_data::DataError;
pub use isochrone_nn::error::{ConfigError, ConfigErrorKind, StateError};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a training or a run failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A setting is impossible.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The discount is impossible.
    #[error(transparent)]
    Discount(#[from] DiscountError),
    /// The data cannot be read or sampled.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A number of the data is not finite.
    #[error(
        "episode {episode}, row {row} of {column}: {value} is not a finite number; hint: validate the dataset to list all of them"
    )]
    NotFinite {
        /// Which column.
        column: String,
        /// Counted from 0.
        episode: usize,
        /// Inside the episode, counted from 0.
        row: usize,
        /// What is there.
        value: f32,
    },
    /// The system could not read or write a file.
    #[error("{}: {source}; hint: {hint}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// What to do about it.
        hint: &'static str,
    },
    /// A file is not what it should be.
    #[error("{}: {problem}; hint: {hint}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// A checkpoint is corrupt.
    #[error("{}: {problem}; hint: it is corrupt: use another checkpoint, or resume the run from the one before", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Something in the folder of a run is not a file or folder of its own.
    #[error(
        "{}: it is {}, and the folder of a run has none; hint: put a copy of what it stands for in its place, or remove it",
        path.display(), if *is_link { "a symbolic link" } else { "neither a file nor a folder" }
    )]
    NotPlain {
        /// Where.
        path: PathBuf,
        /// Whether it leads elsewhere; otherwise it is a pipe, a socket or a device.
        is_link: bool,
    },
    /// A folder that is to be removed holds what no run has put there.
    #[error("{}: it is not part of a checkpoint, and would be removed with it; hint: move it elsewhere", path.display())]
    NotOurs {
        /// What is in the way.
        path: PathBuf,
    },
    /// A file that says what a run is has been changed since.
    #[error(
        "{}: it is not as it was when {}; hint: restore it from a copy, or accept the edits when the run is opened",
        path.display(), since.map_or_else(|| "the run began".to_owned(), |step| format!("the checkpoint of step {step} was saved"))
    )]
    Edited {
        /// The file.
        path: PathBuf,
        /// The checkpoint that knows it otherwise; none if there is no checkpoint yet.
        since: Option<u64>,
    },
    /// A file was written by a version that writes it differently.
    #[error(
        "{}: a run of format {found}, not {expected}; hint: use the version of isochrone that wrote it, or train again", path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The format that can be read.
        expected: u32,
    },
    /// A folder has a run already.
    #[error("{}: there is already a run; hint: resume it, or use another folder", folder.display())]
    RunExists {
        /// The folder.
        folder: PathBuf,
    },
    /// A run was started with other settings than those it is to be resumed with.
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
        /// The value that was asked for.
        expected: String,
    },
    /// A run was started with other data than those it is to be resumed with.
    #[error(
        "{}: the contents of the {role} data are not those that the run in {} was started with; hint: restore the data, or start another run",
        path.display(), folder.display()
    )]
    OtherData {
        /// Where the data of the run were.
        path: PathBuf,
        /// `training` or `validation`.
        role: &'static str,
        /// The folder of the run.
        folder: PathBuf,
    },
    /// The validation data have other columns than the training data.
    #[error(
        "validation data: observations of width {} and actions of width {}, not {} and {}; hint: validate on data like those that are learned from",
        found[0], found[1], expected[0], expected[1]
    )]
    ValidationWidths {
        /// Widths of observations and actions.
        found: [usize; 2],
        /// Those of the training data.
        expected: [usize; 2],
    },
    /// A model has no distance.
    #[error("the model has no distance; hint: behavior cloning learns none, train another algorithm")]
    NoDistance,
    /// A teacher knows other states than the data have.
    #[error(
        "the teacher knows states of {teacher} numbers, and the data have {data}; hint: fit it to the same data"
    )]
    TeacherWidth {
        /// Numbers of a state, for the teacher.
        teacher: usize,
        /// Numbers of an observation.
        data: usize,
    },
    /// A teacher knows no path between any two states of the data.
    #[error(
        "the teacher knows no path between any two states of the data; hint: distill from data with transitions"
    )]
    NothingToDistill,
    /// A model has no policy.
    #[error("the model has no policy; hint: train on data with actions")]
    NoPolicy,
    /// Training produced numbers that are not finite.
    #[error("{0}")]
    Diverged(#[from] Divergence),
}

/// A run that stopped because a number was not finite.
#[derive(Debug, Clone, PartialEq, Error)]
#[error(
    "step {step}: {metric} = {value}{}; {}; hint: train again with a lower learning rate or max_grad_norm = 1, and validate the dataset to find outliers",
    last_finite.map_or_else(String::new, |value| format!(", after {value:.6} one step before")),
    last_checkpoint.as_ref().map_or_else(|| "there is no checkpoint yet".to_owned(), |path| format!("the last good checkpoint is {}", path.display()))
)]
pub struct Divergence {
    /// At which update, counted from 1.
    pub step: u64,
    /// The first number that was not finite.
    pub metric: String,
    /// What it was.
    pub value: f64,
    /// What it was one step before, if this process saw that.
    pub last_finite: Option<f64>,
    /// Where to resume from.
    pub last_checkpoint: Option<PathBuf>,
}

impl LearnError {
    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source, hint: "check that the path is right and may be read" }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        let hint = "check that the folder may be written to and that there is space";
        Self::Io { path: path.into(), source, hint }
    }

    pub(crate) fn malformed(path: &Path, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Malformed { path: path.into(), problem: problem.into(), hint: hint.into() }
    }
}
