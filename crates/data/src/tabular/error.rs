//! The error type of the readers: every error names the file and the problem.

use crate::{Hint, regular_file};
use isochrone_core::exact::{EventChainError, MapError, MdpError};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why a file could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TabularError {
    /// The file could not be read.
    #[error("{}: {source}; hint: {}", path.display(), regular_file::hint(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
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
    /// The file describes an invalid MDP.
    #[error("{}: {source}", path.display())]
    Mdp {
        /// The file.
        path: PathBuf,
        /// The invalid row, and the reason.
        source: MdpError,
    },
    /// The file is not a valid map.
    #[error("{}: {source}", path.display())]
    Map {
        /// The file.
        path: PathBuf,
        /// The invalid line, and the reason.
        source: MapError,
    },
    /// No Markov chain can be estimated from the log.
    #[error("{}: {source}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: EventChainError,
    },
}

impl TabularError {
    pub(super) fn malformed(path: &Path, problem: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self::Malformed { path: path.into(), problem: problem.into(), hint: hint.into() }
    }

    pub(super) fn mdp(path: &Path) -> impl FnOnce(MdpError) -> Self {
        let path = path.into();
        |source| Self::Mdp { path, source }
    }
}
