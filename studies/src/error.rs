//! Why a study could not be run, resumed or merged.

use isochrone_learn::error::LearnError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a study could not be run, resumed or merged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A recipe asks for something that does not exist, or a folder or a file in it belongs to something else.
    #[error("{}: {problem}; hint: {hint}", path.display())]
    Invalid {
        /// The folder or file, or the name of a built-in recipe.
        path: PathBuf,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A method was asked for that the study does not have.
    #[error("{method} is not a method of this study; hint: choose from {}", known.join(", "))]
    UnknownMethod {
        /// The method.
        method: String,
        /// The methods of the study.
        known: Vec<&'static str>,
    },
    /// A shard that does not exist.
    #[error("{0:?} is not a shard; hint: I/N with I from 1 to N: 2/5 is the second of five")]
    Shard(String),
    /// Two shards are not parts of the same study.
    #[error("{} and {}: {field} differs; hint: merge shards of one recipe, run by one version", left.display(), right.display())]
    Mismatch {
        /// The first shard.
        left: PathBuf,
        /// A shard that does not fit it.
        right: PathBuf,
        /// What differs.
        field: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}; hint: check that it exists, may be accessed and that there is space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system reports.
        source: std::io::Error,
    },
    /// A run could not be trained or loaded.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A dataset could not be read or written.
    #[error(transparent)]
    Data(#[from] isochrone_data::DataError),
    /// An environment could not be opened, or a dataset not collected.
    #[error(transparent)]
    Collect(#[from] isochrone_envs::EnvError),
    /// A refined distance could not be fitted.
    #[error(transparent)]
    Refined(#[from] isochrone_eval::refined::RefinedError),
    /// A planner could not be built.
    #[error(transparent)]
    Plan(#[from] isochrone_eval::plan::PlanError),
    /// A figure could not be drawn.
    #[error(transparent)]
    Plot(#[from] isochrone_plot::PlotError),
}

impl StudyError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path: path.into(), source }
    }
}
