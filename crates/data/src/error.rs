//! The error type of this crate: every error names the file or setting and ends with a hint.

use crate::{EpisodeError, Hint, regular_file, remote::RemoteError};
use std::{
    fmt::Display,
    path::{Path, PathBuf},
};
use thiserror::Error;

/// The reason why data could not be read, written or sampled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system could not read or write a file.
    #[error("{}: {source}; hint: {hint}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
        /// What to do about it.
        hint: &'static str,
    },
    /// The file is malformed.
    #[error("{}: {problem}; hint: {hint}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
        /// What to do about it.
        hint: Hint,
    },
    /// A part of the file is invalid.
    #[error("{0}")]
    Defect(#[from] Defect),
    /// An episode in memory does not match its spec.
    #[error("episode {episode}: {source}; hint: {}", source.hint())]
    Episode {
        /// The number of the episode, counted from 0.
        episode: usize,
        /// What is wrong with the episode.
        source: EpisodeError,
    },
    /// A remote dataset could not be fetched.
    #[error("{0}")]
    Remote(#[from] RemoteError),
    /// A setting is invalid.
    #[error("{problem}; hint: {hint}")]
    Setting {
        /// The setting and its value.
        problem: String,
        /// The valid values.
        hint: Hint,
    },
}

/// A problem with one episode, or with the contents, of a file that can otherwise be read.
///
/// A reader passes it to its sink. Most sinks stop with an error; a validator records it and
/// continues.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}: {}{problem}; hint: {hint}", path.display(), episode.map(|number| format!("episode {number}: ")).unwrap_or_default())]
pub struct Defect {
    /// The file.
    pub path: PathBuf,
    /// The episode, counted from 0; `None` if the defect concerns the entire file.
    pub episode: Option<usize>,
    /// The row of the episode, if the defect concerns a single row.
    pub row: Option<usize>,
    /// The kind of defect.
    pub kind: DefectKind,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub hint: Hint,
}

/// The kinds of defects that a reader detects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefectKind {
    /// Columns have inconsistent lengths, most often T instead of T + 1.
    Lengths,
    /// End-of-episode flags are missing or contradict each other.
    Ends,
    /// An episode has no transition.
    Empty,
    /// Frames are missing or out of order.
    Frames,
    /// The contents differ from those that were written.
    Corrupt,
}

impl Defect {
    /// Creates a defect of an entire episode.
    pub(crate) fn of_episode(
        path: &Path,
        episode: usize,
        kind: DefectKind,
        problem: String,
        hint: &str,
    ) -> Self {
        Self { path: path.into(), episode: Some(episode), row: None, kind, problem, hint: hint.into() }
    }

    /// Creates the defect of a file whose bytes differ from those that were written.
    pub(crate) fn corrupt(path: &Path) -> Self {
        let problem = "its contents do not match its checksum".into();
        let hint = "the file is corrupt or was modified; copy it again, or convert the original again".into();
        Self { path: path.into(), episode: None, row: None, kind: DefectKind::Corrupt, problem, hint }
    }

    /// Creates the defect of metadata that declare another count than the data have, found after
    /// `episodes` episodes.
    pub(crate) fn miscounted(
        path: &Path,
        episodes: usize,
        what: &str,
        (declared, found): (usize, usize),
    ) -> Self {
        let problem = format!("the metadata declare {declared} {what}, but the data have {found}");
        let hint = "the download is incomplete, or the metadata belong to another version";
        Self::of_episode(path, episodes, DefectKind::Lengths, problem, hint)
    }
}

impl DataError {
    /// Converts an I/O error while reading.
    pub(crate) fn read(path: &Path) -> impl Fn(std::io::Error) -> Self + Copy {
        move |source| Self::Io { path: path.into(), hint: regular_file::hint(&source), source }
    }

    /// Converts an I/O error while writing.
    pub(crate) fn write(path: &Path) -> impl Fn(std::io::Error) -> Self + Copy {
        let hint = "check that the folder exists, is writable and has free space";
        move |source| Self::Io { path: path.into(), source, hint }
    }

    /// Converts an error of a library while writing.
    pub(crate) fn refused<E: Display>(path: &Path) -> impl Fn(E) -> Self + Copy {
        move |error: E| Self::write(path)(std::io::Error::other(error.to_string()))
    }

    pub(crate) fn malformed(path: &Path, problem: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self::Malformed { path: path.into(), problem: problem.into(), hint: hint.into() }
    }

    pub(crate) fn episode(episode: usize, source: EpisodeError) -> Self {
        Self::Episode { episode, source }
    }

    pub(crate) fn setting(problem: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self::Setting { problem: problem.into(), hint: hint.into() }
    }
}
