//! Errors of studies.

use isochrone_learn::error::LearnError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why a study could not be run, resumed or merged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A recipe is invalid, or a folder or file does not belong to the study.
    #[error("{}: {problem}; hint: {hint}", path.display())]
    Invalid {
        /// The folder or file, or the name of a built-in recipe.
        path: PathBuf,
        /// The problem.
        problem: String,
        /// How to solve it.
        hint: &'static str,
    },
    /// The study has no such method.
    #[error("{method} is not a method of this study; hint: choose from {}", known.join(", "))]
    UnknownMethod {
        /// The method.
        method: String,
        /// The methods of the study.
        known: Vec<&'static str>,
    },
    /// The study has no such dataset.
    #[error("{dataset} is not a dataset of this study; hint: choose from {}", known.join(", "))]
    UnknownDataset {
        /// The dataset.
        dataset: String,
        /// The datasets of the study.
        known: Vec<String>,
    },
    /// The shard is invalid.
    #[error("{0:?} is not a shard; hint: give I/N with I from 1 to N, such as 2/5 for the second of five")]
    Shard(String),
    /// Two shards are not parts of the same study.
    #[error("{} and {}: {field} differs; hint: merge shards of one recipe, run by one version", left.display(), right.display())]
    Mismatch {
        /// The first shard.
        left: PathBuf,
        /// The shard that differs from it.
        right: PathBuf,
        /// The field that differs.
        field: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}; hint: check that the path exists and is accessible, and that the disk has space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A run could not be trained or loaded.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A dataset could not be read or written.
    #[error(transparent)]
    Data(#[from] isochrone_data::DataError),
    /// An environment could not be opened, or a dataset could not be collected.
    #[error(transparent)]
    Collect(#[from] isochrone_envs::EnvError),
    /// A model of chance could not be fitted.
    #[error(transparent)]
    Chance(#[from] isochrone_eval::chance::ChanceError),
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
