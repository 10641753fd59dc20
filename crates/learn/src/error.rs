//! Everything that can go wrong with learning: the place, the value, the hint.

use isochrone_core::DiscountError;
use isochrone_data::DataError;
pub use isochrone_nn::error::ConfigError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a run could not begin, go on or be read.
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
        "episode {episode}, row {row} of {column}: {value} is not a finite number; hint: isochrone data validate lists all of them"
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
    /// A checkpoint is not whole.
    #[error("{}: {problem}; hint: it is damaged: use another checkpoint, or go on with --resume from the one before", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Training produced numbers that are not finite.
    #[error("{0}")]
    Diverged(#[from] Divergence),
}

/// A run that stopped because a number was not finite.
#[derive(Debug, Clone, PartialEq, Error)]
#[error(
    "step {step}: {metric} = {value}{}; {}; hint: {hint}",
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
    /// Where to go on from.
    pub last_checkpoint: Option<PathBuf>,
    /// What to do.
    pub hint: String,
}

impl LearnError {
    /// What is wrong, without the file and the hint.
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Damaged { path, problem } => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                format!("{name}, {problem}")
            }
            other => other.to_string(),
        }
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source, hint: "check that the path is right and may be read" }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
            hint: "check that the folder may be written to and that there is space",
        }
    }

    pub(crate) fn malformed(path: &Path, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Malformed { path: path.into(), problem: problem.into(), hint: hint.into() }
    }
}
