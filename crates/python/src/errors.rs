//! Errors as Python classes, with their hints as notes.

use isochrone::{
    DiscountError, ShapeError,
    audit::AuditError,
    data::{self, tabular::TabularError},
    envs::EnvError,
    exact::{EventChainError, MdpError, SolveError},
    learn::{
        error::{Divergence, LearnError},
        export::ExportError,
    },
    plan::PlanError,
    plot::PlotError,
    refined::RefinedError,
};
use pyo3::{
    create_exception,
    exceptions::{PyArithmeticError, PyImportError, PyValueError},
    prelude::*,
};
use std::io;

create_exception!(isochrone, IsochroneError, PyValueError, "A value that isochrone cannot work with.");
create_exception!(isochrone, DataError, IsochroneError, "A dataset or run that cannot be read or used.");
create_exception!(isochrone, ConfigError, IsochroneError, "A setting that does not exist or is invalid.");
create_exception!(
    isochrone,
    DivergedError,
    PyArithmeticError,
    "Training produced a number that is not finite.\n\nAttributes: `step`, `metric`, `value` and `last_checkpoint` (a path or None)."
);
create_exception!(
    isochrone,
    PhysicsError,
    PyImportError,
    "An environment needs MuJoCo, which cannot be loaded."
);

/// The names of the library in hints, and what they are called in Python.
const PYTHON_NAMES: [(&str, &str); 13] = [
    ("`ReadOptions::observations`", "`observations`"),
    ("`ReadOptions::episode`", "`episode`"),
    ("`ReadOptions::extras`", "`extras`"),
    ("`ReadOptions::ends`", "`ends`"),
    ("`ReadOptions::frames_per_second`", "`fps`"),
    ("`ReadOptions::action_bounds`", "`action_range`"),
    ("`Format::read`", "another file extension"),
    ("`DatasetSummary`", "`isochrone data inspect`"),
    ("`Writer`", "`Dataset.save`"),
    ("`LogColumns::case`", "`case`"),
    ("`LogColumns::activity`", "`activity`"),
    ("`LogColumns::timestamp`", "`timestamp`"),
    ("`Dataset`", "`isochrone.Dataset`"),
];

/// Makes an error whose hint is a PEP 678 note, which a traceback shows on a line of its own.
fn with_hint(message: &str, make: impl FnOnce(String) -> PyErr) -> PyErr {
    let message =
        PYTHON_NAMES.iter().fold(message.to_owned(), |text, (rust, python)| text.replace(rust, python));
    // Some errors have their hint on a line of its own.
    let parts = ["; hint: ", "\nhint: "].iter().find_map(|before| message.split_once(before));
    let (problem, hint) = parts.map_or((message.as_str(), None), |(problem, hint)| (problem, Some(hint)));
    let error = make(problem.to_owned());
    if let Some(hint) = hint {
        Python::attach(|py| {
            let _ = error.value(py).call_method1("add_note", (format!("hint: {hint}"),));
        });
    }
    error
}

/// `FileNotFoundError`, `PermissionError` and so on, by the kind of the system's error.
fn of_system(error: &dyn std::error::Error, source: &io::Error) -> PyErr {
    with_hint(&error.to_string(), |problem| io::Error::new(source.kind(), problem).into())
}

/// An error of the library that has a class in Python.
pub trait IntoPython {
    /// Returns the Python exception.
    fn into_python(self) -> PyErr;
}

impl IntoPython for data::DataError {
    fn into_python(self) -> PyErr {
        match &self {
            Self::Io { source, .. } => of_system(&self, source),
            Self::Setting { .. } => with_hint(&self.to_string(), ConfigError::new_err),
            _ => with_hint(&self.to_string(), DataError::new_err),
        }
    }
}

impl IntoPython for TabularError {
    fn into_python(self) -> PyErr {
        match &self {
            Self::Read { source, .. } => of_system(&self, source),
            _ => with_hint(&self.to_string(), DataError::new_err),
        }
    }
}

impl IntoPython for LearnError {
    fn into_python(self) -> PyErr {
        match self {
            Self::Data(error) => error.into_python(),
            Self::Io { ref source, .. } => of_system(&self, source),
            Self::Config(_) | Self::Discount(_) => with_hint(&self.to_string(), ConfigError::new_err),
            Self::Diverged(divergence) => diverged(&divergence),
            _ => with_hint(&self.to_string(), DataError::new_err),
        }
    }
}

fn diverged(divergence: &Divergence) -> PyErr {
    let error = with_hint(&divergence.to_string(), DivergedError::new_err);
    Python::attach(|py| {
        let value = error.value(py);
        let _ = value.setattr("step", divergence.step);
        let _ = value.setattr("metric", &divergence.metric);
        let _ = value.setattr("value", divergence.value);
        let _ = value.setattr("last_checkpoint", divergence.last_checkpoint.as_deref());
    });
    error
}

impl IntoPython for EnvError {
    fn into_python(self) -> PyErr {
        match self {
            Self::Data(error) => error.into_python(),
            error => with_hint(&error.to_string(), PhysicsError::new_err),
        }
    }
}

impl IntoPython for ExportError {
    fn into_python(self) -> PyErr {
        match self {
            Self::File(error) => error.into_python(),
            error => with_hint(&error.to_string(), IsochroneError::new_err),
        }
    }
}

impl IntoPython for PlotError {
    fn into_python(self) -> PyErr {
        match &self {
            Self::Write { source, .. } => of_system(&self, source),
            _ => with_hint(&self.to_string(), IsochroneError::new_err),
        }
    }
}

macro_rules! invalid_values {
    ($($error:ty),*) => {$(
        impl IntoPython for $error {
            fn into_python(self) -> PyErr {
                with_hint(&self.to_string(), IsochroneError::new_err)
            }
        }
    )*};
}

invalid_values!(
    AuditError,
    DiscountError,
    EventChainError,
    MdpError,
    PlanError,
    RefinedError,
    ShapeError,
    SolveError
);

/// Returns an error about an invalid value, with a hint.
pub fn invalid(problem: &str, hint: &str) -> PyErr {
    with_hint(&format!("{problem}; hint: {hint}"), IsochroneError::new_err)
}

/// Returns an error about data, with a hint.
pub fn invalid_data(problem: &str, hint: &str) -> PyErr {
    with_hint(&format!("{problem}; hint: {hint}"), DataError::new_err)
}

/// `?` from a result of the library to one of Python.
pub trait OrRaise<T> {
    /// Converts the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: IntoPython> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(IntoPython::into_python)
    }
}
