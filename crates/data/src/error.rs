//! One error for everything that can be wrong with data: the file, the place, the hint.

use crate::{EpisodeError, Hint};
use std::{
    fmt::Display,
    path::{Path, PathBuf},
};
use thiserror::Error;

/// Why data could not be read, written or sampled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The system could not read or write a file.
    #[error("{}: {source}; hint: {hint}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
        /// What to do about it.
        hint: &'static str,
    },
    /// The file is not what it should be.
    #[error("{}: {problem}; hint: {hint}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and what.
        problem: String,
        /// What to do about it.
        hint: Hint,
    },
    /// A part of the file is broken.
    #[error("{0}")]
    Defect(#[from] Defect),
    /// An episode in memory does not fit its spec.
    #[error("episode {episode}: {source}; hint: {}", source.hint())]
    Episode {
        /// Its number, counted from 0.
        episode: usize,
        /// What is wrong with it.
        source: EpisodeError,
    },
    /// A setting is impossible.
    #[error("{problem}; hint: {hint}")]
    Setting {
        /// Which, and its value.
        problem: String,
        /// What would be possible.
        hint: Hint,
    },
}

/// What is wrong with one episode, or with the contents, of a file that can otherwise be read.
///
/// A reader hands it to its sink: most sinks stop there, a validator takes note and goes on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}: {}{problem}; hint: {hint}", path.display(), episode.map(|number| format!("episode {number}: ")).unwrap_or_default())]
pub struct Defect {
    /// The file.
    pub path: PathBuf,
    /// The episode, counted from 0; none if the file as a whole is to blame.
    pub episode: Option<usize>,
    /// The row inside the episode, if one is to blame.
    pub row: Option<usize>,
    /// Which kind of defect.
    pub kind: DefectKind,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub hint: Hint,
}

/// The kinds of defects that a reader notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefectKind {
    /// Columns of different lengths, T against T + 1 above all.
    Lengths,
    /// Marks of the end of an episode that are missing or contradict each other.
    Ends,
    /// An episode without a transition.
    Empty,
    /// Frames that are missing or out of order.
    Frames,
    /// Contents that are not those that the file was written with.
    Corrupt,
}

impl Defect {
    /// A defect of a whole episode.
    pub(crate) fn of_episode(
        path: &Path,
        episode: usize,
        kind: DefectKind,
        problem: String,
        hint: &str,
    ) -> Self {
        Self { path: path.into(), episode: Some(episode), row: None, kind, problem, hint: hint.into() }
    }

    /// A file whose bytes are not those that were written.
    pub(crate) fn corrupt(path: &Path) -> Self {
        let problem = "its contents do not match its checksum".into();
        let hint = "it is corrupt or was changed; copy it again or convert the original again".into();
        Self { path: path.into(), episode: None, row: None, kind: DefectKind::Corrupt, problem, hint }
    }

    /// Metadata that count other than the data have, found after `episodes` of them.
    pub(crate) fn miscounted(
        path: &Path,
        episodes: usize,
        what: &str,
        (declared, found): (usize, usize),
    ) -> Self {
        let problem = format!("the metadata count {declared} {what}, the data have {found}");
        let hint = "a download is incomplete, or the metadata are of another version";
        Self::of_episode(path, episodes, DefectKind::Lengths, problem, hint)
    }
}

impl DataError {
    /// Makes an error of a system's error while reading.
    pub(crate) fn read(path: &Path) -> impl Fn(std::io::Error) -> Self + Copy {
        move |source| Self::Io { path: path.into(), source, hint: "check the name and that it can be read" }
    }

    /// Makes an error of a system's error while writing.
    pub(crate) fn write(path: &Path) -> impl Fn(std::io::Error) -> Self + Copy {
        let hint = "check that the folder exists, can be written and has room";
        move |source| Self::Io { path: path.into(), source, hint }
    }

    /// Makes an error of a library's error while writing.
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
