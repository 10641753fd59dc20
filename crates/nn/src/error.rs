//! Errors of configurations and saved states.

/// The kind of a [`ConfigError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// There is no setting with this name.
    Unknown,
    /// The value has the wrong type or is not one of the choices.
    WrongType,
    /// The value is out of range or incompatible with another setting.
    OutOfRange,
    /// The dataset lacks something that the setting requires.
    Unsupported,
}

/// An invalid setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field} = {value}: {problem}\nhint: {hint}")]
pub struct ConfigError {
    /// The kind of the error.
    pub kind: ConfigErrorKind,
    /// The dotted name of the field.
    pub field: String,
    /// The value of the field.
    pub value: String,
    /// What is wrong with the value.
    pub problem: String,
    /// How to fix it.
    pub hint: String,
}

impl ConfigError {
    /// Creates an error of the kind [`ConfigErrorKind::OutOfRange`].
    pub fn new(field: &str, value: impl ToString, problem: &str, hint: impl Into<String>) -> Self {
        Self {
            kind: ConfigErrorKind::OutOfRange,
            field: field.to_owned(),
            value: value.to_string(),
            problem: problem.to_owned(),
            hint: hint.into(),
        }
    }

    /// Returns the error with another kind.
    #[must_use]
    pub fn of_kind(self, kind: ConfigErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the error with `outer.` prepended to the name of the field, for a nested
    /// configuration.
    #[must_use]
    pub fn inside(mut self, outer: &str) -> Self {
        self.field = format!("{outer}.{}", self.field);
        self
    }
}

/// Returns `value` if it is at least 1.
pub(crate) fn at_least_one(field: &str, value: usize) -> Result<usize, ConfigError> {
    if value > 0 {
        return Ok(value);
    }
    Err(ConfigError::new(field, value, "must be at least 1", format!("set {field} to a positive number")))
}

/// The reason why bytes cannot be read as an [`Archive`](crate::store::Archive).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The bytes are not a safetensors file, or the file is corrupt.
    #[error("not a readable safetensors file: {0}")]
    Unreadable(String),
    /// A tensor is not single precision.
    #[error("tensor {name} has dtype {dtype}, not F32")]
    WrongDtype {
        /// The name of the tensor.
        name: String,
        /// Its dtype.
        dtype: String,
    },
}

impl From<ConfigError> for StateError {
    fn from(error: ConfigError) -> Self {
        Self::Network(error.to_string())
    }
}

/// A mismatch between a saved state and the learner that it is loaded into.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The network that is described cannot be built.
    #[error("describes a network that cannot be built: {0}")]
    Network(String),
    /// A tensor is missing.
    #[error("has no tensor {name}")]
    MissingTensor {
        /// The name of the tensor.
        name: String,
    },
    /// A tensor has a different shape.
    #[error("tensor {name} has shape {found:?}, not {expected:?}")]
    WrongShape {
        /// The name of the tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The expected shape.
        expected: Vec<usize>,
    },
    /// A number is missing.
    #[error("has no number {name}")]
    MissingNumber {
        /// The name of the number.
        name: String,
    },
    /// The state contains a tensor or number that the learner does not have.
    #[error("has {name}, which the learner does not use")]
    Unused {
        /// The name of the tensor or number.
        name: String,
    },
}
