//! Training of one run of a study.

use crate::{dataset::StudyDataset, error::StudyError, jobs::Job, recipe::Recipe};
use isochrone_learn::{
    Outcome, Preset, StopHandle, Training,
    error::LearnError,
    evaluation::Evaluation,
    model::{CheckpointSelector, Model},
    run::{DataConfig, Lock, Run, RunConfig, State},
};
use std::path::{Path, PathBuf};

/// Builds the training of a run: the common settings that the method has, its own settings, the
/// settings of the variant that it has, and the schedule of the recipe, in this order.
pub fn training(recipe: &Recipe, job: Job<'_>, dataset: &StudyDataset) -> Training {
    let steps = recipe.steps(job.method);
    let tenth = (steps / 10).max(1);
    let evaluate_every = if recipe.evaluation.training.is_some() { tenth } else { 0 };
    let read = recipe.read_options();
    let data = DataConfig { path: dataset.path.clone(), read, ..DataConfig::default() };
    let mut training = Training::new(job.method).preset(Preset::Small).data_config(data);
    for (name, value) in &recipe.settings {
        training = training.set_if_known(name, value);
    }
    for (name, value) in &recipe.methods[job.method.name()].settings {
        training = training.set(name, value);
    }
    for (name, value) in job.variant.iter().flat_map(|variant| &variant.settings) {
        training = training.set_if_known(name, value);
    }
    training
        .steps(steps)
        .seed(job.seed)
        .set("metrics.every", (steps / 100).max(1))
        .set("metrics.evaluate_every", evaluate_every)
        .set("checkpoints.every", tenth)
        .set("checkpoints.keep_last", recipe.evaluation.checkpoints)
}

/// The configuration as text, without the path of the data.
pub fn fingerprint(config: &RunConfig) -> String {
    let mut config = config.clone();
    config.data.path = PathBuf::new();
    toml::to_string(&config).expect("settings are plain")
}

/// A finished run, with the lock of its folder.
pub struct TrainedRun {
    /// Whether it was trained by this call, and not earlier.
    pub was_trained: bool,
    pub run: Run,
    _lock: Lock,
}

/// Trains a run to its end unless it is finished; returns `None` if it was stopped.
pub fn train(
    folder: &Path,
    training: Training,
    dataset: &StudyDataset,
    evaluation: Option<impl Evaluation + 'static>,
    stop: &StopHandle,
) -> Result<Option<TrainedRun>, StudyError> {
    let is_finished =
        Run::open(folder).and_then(|run| run.status()).is_ok_and(|status| status.state == State::Finished);
    let mut training = training.run_dir(folder).stop(stop.clone());
    if let Some(evaluation) = evaluation {
        training = training.evaluation(evaluation);
    }
    let result = training.train(&dataset.data)?;
    let run = result.run.filter(|_| result.outcome == Outcome::Finished);
    Ok(run.map(|(run, lock)| TrainedRun { was_trained: !is_finished, run, _lock: lock }))
}

impl TrainedRun {
    /// Returns the steps of the last `count` checkpoints, or of all if there are fewer.
    pub fn checkpoints(&self, count: usize) -> Result<Vec<u64>, StudyError> {
        let steps = self.run.checkpoints().steps()?;
        if steps.last() != Some(&self.run.config().steps) {
            return Err(StudyError::Invalid {
                path: self.run.folder().to_owned(),
                problem: "the last checkpoint is missing".into(),
                hint: "remove the folder of the run to train it again",
            });
        }
        Ok(steps[steps.len().saturating_sub(count)..].to_vec())
    }
}

/// Loads the last model of the run in a folder; `None` if there is no run.
pub fn last_model(folder: &Path) -> Result<Option<Model>, LearnError> {
    folder.join("config.toml").exists().then(|| Model::open(folder, CheckpointSelector::Last)).transpose()
}
