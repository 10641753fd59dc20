//! What can be wrong with a configuration or a file of weights.

use std::path::PathBuf;

/// A configuration that cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field} = {value}: {problem}\nhint: {hint}")]
pub struct ConfigError {
    /// Dotted name of the field.
    pub field: String,
    /// Its value.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to do.
    pub hint: String,
}

impl ConfigError {
    /// A field, its value, what is wrong with it and what to do.
    pub fn new(field: &str, value: impl ToString, problem: &str, hint: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            value: value.to_string(),
            problem: problem.to_owned(),
            hint: hint.into(),
        }
    }

    /// The same error of a configuration that is the field `outer` of another.
    #[must_use]
    pub fn inside(mut self, outer: &str) -> Self {
        self.field = format!("{outer}.{}", self.field);
        self
    }
}

/// `value` if it is at least 1.
pub(crate) fn at_least_one(field: &str, value: usize) -> Result<usize, ConfigError> {
    if value > 0 {
        return Ok(value);
    }
    Err(ConfigError::new(field, value, "must be at least 1", format!("set {field} to a positive number")))
}

/// Weights that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system said no.
    #[error("{path}: {source}\nhint: check that the folder exists and that there is space", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// Not a safetensors file, or damaged.
    #[error("{path}: not a readable safetensors file: {problem}\nhint: it may be cut short; use another copy", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the reader found.
        problem: String,
    },
    /// The weights belong to another network.
    #[error("{path}: {problem}\nhint: load it with the configuration that it was saved with", path = path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// The first tensor that does not fit.
        problem: String,
    },
}
