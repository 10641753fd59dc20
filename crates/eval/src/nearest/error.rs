//! Errors of an index.

use std::path::PathBuf;
use thiserror::Error;

/// Why an index cannot be built, saved or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NearestError {
    /// A setting is zero.
    #[error("`{field}` is 0; hint: use at least 1")]
    Setting {
        /// The name of the setting.
        field: &'static str,
    },
    /// The index was built over other states.
    #[error(
        "the index has {index} rows and there are {states} states; hint: build the index of these states"
    )]
    Rows {
        /// The number of rows in the index.
        index: usize,
        /// The number of states.
        states: usize,
    },
    /// The index failed, for example because memory is exhausted.
    #[error("the index cannot be {action}: {problem}; hint: free memory, or search exactly")]
    Engine {
        /// What was attempted.
        action: &'static str,
        /// The message of the search library.
        problem: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}; hint: check permissions and free space", path = path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file of the index is corrupt.
    #[error("{path}: {problem}; hint: delete the folder to build the index again", path = path.display())]
    Corrupt {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}
