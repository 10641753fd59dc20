//! How the command, the Python package and other programs train: where runs are stored, and the
//! evaluations that select the best checkpoint.

use crate::{
    audit::{AcrossEpisodes, Readings},
    data::{Dataset, formats::Format},
    learn::{
        Training,
        evaluation::{DistanceEvaluation, Evaluation},
        run::{DataConfig, RunConfig},
    },
    refined::{RefinedConfig, RefinedDistance},
};
use std::{
    cell::LazyCell,
    path::{Path, PathBuf},
};

/// The number of landmarks of recorded time in an evaluation.
const LANDMARKS: usize = 500;
/// One of this many episodes of a LeRobot dataset is held out.
const HOLD_OUT: usize = 10;

/// Adds the standard evaluations: the rank correlation with recorded time across episodes, which
/// selects the best checkpoint, and observed steps within episodes. They use the validation
/// dataset, if there is one.
pub fn with_evaluations(training: Training, data: &Dataset, validation: Option<&Dataset>) -> Training {
    // Validation episodes if their observations match, otherwise the training episodes.
    let width = |data: &Dataset| data.spec().observation.width;
    let evaluated = validation.filter(|validation| width(validation) == width(data)).unwrap_or(data);
    let training = training.evaluation(rank_across_episodes(data.clone(), evaluated.clone()));
    match validation {
        Some(validation) => training.validation(validation),
        None => training.evaluate_training_data(),
    }
}

/// Returns the rank correlation over pairs of states of different episodes. Metrics within episodes
/// do not show errors between episodes. Recorded time is computed at the first evaluation.
fn rank_across_episodes(data: Dataset, evaluated: Dataset) -> impl Evaluation {
    let pairs = LazyCell::new(move || {
        let config = RefinedConfig { landmarks: LANDMARKS, ..RefinedConfig::default() };
        // Without recorded time there is no rank correlation, and other metrics select the
        // checkpoint.
        let recorded = RefinedDistance::fit(&data, &config).ok()?;
        let pairs = AcrossEpisodes::new(&Readings::of_distance(&recorded, &evaluated), &recorded, 0);
        Some((pairs, evaluated))
    });
    DistanceEvaluation::new("rank_across_episodes", move |distance| match &*pairs {
        Some((pairs, evaluated)) => pairs.rank_correlation(&Readings::of_distance(distance, evaluated)),
        None => f64::NAN,
    })
}

/// Returns how many episodes there are for each that is held out: what the configuration sets or,
/// for LeRobot datasets of at least ten episodes without validation data, ten.
pub fn default_hold_out(config: &DataConfig, format: Format, data: &Dataset) -> Option<usize> {
    let is_divided =
        format == Format::LeRobot && config.validation.is_none() && data.n_episodes() >= HOLD_OUT;
    config.hold_out.or(is_divided.then_some(HOLD_OUT))
}

/// Returns `NAME-val.npz` next to `NAME.npz`, if it exists.
pub fn default_validation(data: &Path) -> Option<PathBuf> {
    let (stem, extension) = (data.file_stem()?.to_str()?, data.extension()?.to_str()?);
    let validation = data.with_file_name(format!("{stem}-val.{extension}"));
    validation.exists().then_some(validation)
}

/// Returns the default run folder, `runs/DATA-ALGORITHM-SEED`.
pub fn default_folder(data: &Path, config: &RunConfig) -> PathBuf {
    let name = data.file_stem().unwrap_or_default().to_string_lossy();
    Path::new("runs").join(format!("{name}-{}-{}", config.learner.algorithm(), config.seed))
}
