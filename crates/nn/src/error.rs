//! What can be wrong with a configuration or a saved state.

/// What kind of mistake a [`ConfigError`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// There is no setting of this name.
    Unknown,
    /// The value has the wrong type, or is not one of the choices.
    WrongType,
    /// The value is out of range, or does not fit another setting.
    OutOfRange,
    /// The data do not have what the setting needs.
    Unsupported,
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field} = {value}: {problem}\nhint: {hint}")]
pub struct ConfigError {
    /// What kind of mistake it is.
    pub kind: ConfigErrorKind,
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
    /// A value that is out of range: the field, its value, what is wrong with it and what to do.
    pub fn new(field: &str, value: impl ToString, problem: &str, hint: impl Into<String>) -> Self {
        Self {
            kind: ConfigErrorKind::OutOfRange,
            field: field.to_owned(),
            value: value.to_string(),
            problem: problem.to_owned(),
            hint: hint.into(),
        }
    }

    /// The same error as one of another kind.
    #[must_use]
    pub fn of_kind(self, kind: ConfigErrorKind) -> Self {
        Self { kind, ..self }
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

/// Why bytes are not an [`Archive`](crate::store::Archive).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// Not a safetensors file, or a corrupt one.
    #[error("not a readable safetensors file: {0}")]
    Unreadable(String),
    /// An array is not of single precision.
    #[error("tensor {name} is of {dtype}, not F32")]
    WrongDtype {
        /// Name of the array.
        name: String,
        /// Its type.
        dtype: String,
    },
}

/// A saved state that does not fit the learner that it is loaded into.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// A tensor is missing.
    #[error("has no tensor {name}")]
    MissingTensor {
        /// Name of the tensor.
        name: String,
    },
    /// A tensor has another shape.
    #[error("tensor {name} has the shape {found:?}, not {expected:?}")]
    WrongShape {
        /// Name of the tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that it should have.
        expected: Vec<usize>,
    },
    /// A number is missing.
    #[error("has no number {name}")]
    MissingNumber {
        /// Name of the number.
        name: String,
    },
    /// Something is left over that the learner does not have.
    #[error("has {name}, which the learner has not")]
    Unused {
        /// Name of the tensor or number.
        name: String,
    },
}
