//! One error for all readers: the file, the place, the hint.

use crate::Hint;
use isochrone_core::exact::{EventChainError, MapError, MdpError};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TabularError {
    /// The file could not be read.
    #[error("{}: {source}; hint: check the name and that it is a readable file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
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
    /// The file describes an impossible process.
    #[error("{}: {source}", path.display())]
    Mdp {
        /// The file.
        path: PathBuf,
        /// Which row, and why.
        source: MdpError,
    },
    /// The file is not a valid map.
    #[error("{}: {source}", path.display())]
    Map {
        /// The file.
        path: PathBuf,
        /// Which line, and why.
        source: MapError,
    },
    /// The log cannot be turned into a chain.
    #[error("{}: {source}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
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
