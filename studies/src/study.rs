//! Trains and evaluates the runs of a study, and stores every finished piece.

use crate::{
    dataset::{Collecting, StudyDataset},
    error::StudyError,
    evaluate::{Evaluator, SuccessInTraining, pieces},
    files::write_json,
    jobs::{Job, Part, jobs},
    output_folder::claim,
    recipe::{Recipe, VariantRecipe},
    report,
    results::{DatasetInfo, PROTOCOL_VERSION, Provenance, Results, RunResult},
    training::{self, TrainedRun},
};
use isochrone_learn::{
    ComputeDevice, StopHandle,
    jobs::run_in_parallel,
    model::{CheckpointSelector, Model},
    run::{Lock, Provenance as Program, RunConfig, checkpoint::sha256, metrics},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// The file of a finished run, with all measurements.
pub(crate) const RESULT: &str = "result.json";
/// The file of a run whose evaluations are incomplete.
const PARTIAL_RESULT: &str = "result-partial.json";

/// A study, or a part of it, in its folder.
pub struct Study {
    folder: PathBuf,
    recipe: Recipe,
    part: Part,
    datasets: BTreeMap<String, Arc<StudyDataset>>,
    device: ComputeDevice,
    /// Held for the lifetime of the study.
    _lock: Lock,
}

/// An event of a study.
pub enum Event<'a> {
    /// A run was trained to its end.
    Trained(Job<'a>),
    /// A checkpoint was evaluated, and the result is stored.
    Evaluated(Job<'a>),
    /// A run is finished, now or earlier.
    Finished(&'a RunResult),
}

impl Study {
    /// Collects the datasets, or loads those that were collected before. `observe` is called for
    /// every episode that is collected, which takes minutes for some datasets.
    ///
    /// # Errors
    /// If the recipe lacks a dataset of the part, files cannot be read or written, or the folder
    /// belongs to something else.
    pub fn open(
        folder: &Path,
        recipe: Recipe,
        part: Part,
        observe: &dyn Fn(Collecting<'_>),
    ) -> Result<Self, StudyError> {
        part.check(&recipe)?;
        claim(folder)?;
        let folder = std::path::absolute(folder).map_err(StudyError::io(folder))?;
        let lock = Lock::take(&folder)?;
        let mut study =
            Self { folder, recipe, part, datasets: BTreeMap::new(), device: ComputeDevice::Cpu, _lock: lock };
        let needed: BTreeSet<String> = study.jobs().iter().map(|job| job.dataset.to_owned()).collect();
        for name in needed {
            let dataset = StudyDataset::open(&study.folder, &name, &study.recipe, observe)?;
            study.datasets.insert(name, Arc::new(dataset));
        }
        Ok(study)
    }

    /// Sets the device that trains and evaluates networks; the default is the CPU. Every run
    /// records it in its manifest.
    pub fn on(self, device: ComputeDevice) -> Self {
        Self { device, ..self }
    }

    /// Returns the runs of this part.
    pub fn jobs(&self) -> Vec<Job<'_>> {
        jobs(&self.recipe, &self.part)
    }

    /// Trains and evaluates unfinished runs, as many at a time as there are cores, and writes the
    /// report. A preliminary report is written whenever a run finishes. A failed run does not stop
    /// the others; the next call continues stopped and failed runs.
    ///
    /// # Errors
    /// If a setting is invalid, or the report cannot be written.
    pub fn run(
        &self,
        stop: &StopHandle,
        observe: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Results, StudyError> {
        let jobs = self.jobs();
        let part = (!self.part.is_all()).then(|| self.part.to_string());
        let mut results = Results::new(&self.recipe, part, jobs.len());
        let mut finished = BTreeMap::new();
        let mut open = Vec::new();
        for (number, &job) in jobs.iter().enumerate() {
            let dataset = &self.datasets[job.dataset];
            let config = training::training(&self.recipe, job, dataset).config(&dataset.data)?;
            let hash = self.settings_hash(job, &config);
            match RunResult::read(&self.folder.join(job.folder()).join(RESULT), &job, &hash) {
                Some(result) if result.is_plausible() => {
                    // A process that was killed between both files has left it.
                    let _ = std::fs::remove_file(self.folder.join(job.folder()).join(PARTIAL_RESULT));
                    observe(Event::Finished(&result));
                    finished.insert(number, result);
                }
                _ => open.push((number, job, hash)),
            }
        }
        results.datasets = self.datasets.iter().map(|(name, data)| (name.clone(), self.info(data))).collect();
        // All runs of one seed precede those of the next.
        open.sort_by_key(|(number, job, ..)| (job.seed, *number));
        let state = Mutex::new((results, finished));
        run_in_parallel(&open, |(number, job, hash)| {
            let outcome = self.one(*job, hash, stop, observe);
            let mut state = state.lock().expect("no thread panics with it");
            let (results, finished) = &mut *state;
            match outcome {
                Ok(None) => return Ok(()),
                Ok(Some(result)) => {
                    observe(Event::Finished(&result));
                    finished.insert(*number, result);
                }
                Err(error) => {
                    results.failures.insert(job.folder().display().to_string(), error.to_string());
                }
            }
            results.runs = finished.values().cloned().collect();
            report::write_tables(&self.folder, results)
        })?;
        let (mut results, finished) = state.into_inner().expect("no thread panicked");
        results.runs = finished.into_values().collect();
        match results.is_complete() {
            true => report::write(&self.folder, &results, &[&self.folder])?,
            false => report::write_tables(&self.folder, &results)?,
        }
        Ok(results)
    }

    /// Trains one run to its end and evaluates it; returns `None` if it was stopped.
    fn one(
        &self,
        job: Job<'_>,
        hash: &str,
        stop: &StopHandle,
        observe: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Option<RunResult>, StudyError> {
        let dataset = &self.datasets[job.dataset];
        let evaluator = Evaluator { dataset, recipe: &self.recipe };
        let folder = self.folder.join(job.folder());
        let partial = folder.join(PARTIAL_RESULT);
        if stop.is_stopped() {
            return Ok(None);
        }
        let evaluation = self.recipe.evaluation.training;
        let evaluation = evaluation.map(|training| SuccessInTraining { dataset: dataset.clone(), training });
        let training = training::training(&self.recipe, job, dataset).device(self.device);
        let Some(run) = training::train(&folder, training, dataset, evaluation, stop)? else {
            return Ok(None);
        };
        if run.was_trained {
            observe(Event::Trained(job));
        }
        let mut result = match RunResult::read(&partial, &job, hash) {
            Some(result) if result.is_plausible() => result,
            _ => self.unevaluated(job, hash, &run)?,
        };
        let mut loaded: Option<Model> = None;
        let at = |step: u64, loaded: Option<Model>| match loaded {
            Some(model) if model.step == step => Ok(model),
            _ => Model::of_run_on(&run.run, CheckpointSelector::Step(step), self.device),
        };
        for piece in pieces(&self.recipe, job, &result.checkpoints) {
            if result.evaluations.iter().any(|done| piece.is_done_by(done)) {
                continue;
            }
            if stop.is_stopped() {
                return Ok(None);
            }
            let model = at(piece.step, loaded.take())?;
            let model = loaded.insert(model);
            if let Some(evaluation) = evaluator.evaluate(model, piece, job.seed)? {
                result.evaluations.push(evaluation);
                write_json(&partial, &result)?;
                observe(Event::Evaluated(job));
            }
        }
        let last = at(result.steps, loaded)?;
        result.fit = last.distance.as_ref().and_then(|distance| dataset.reference.fit(distance));
        write_json(&folder.join(RESULT), &result)?;
        // The partial result is removed last, so that one of both files always exists.
        let _ = std::fs::remove_file(&partial);
        Ok(Some(result))
    }

    /// The result of a run before its first evaluation.
    fn unevaluated(&self, job: Job<'_>, hash: &str, run: &TrainedRun) -> Result<RunResult, StudyError> {
        Ok(RunResult {
            dataset: job.dataset.to_owned(),
            method: job.method.name().to_owned(),
            variant: job.variant.map(VariantRecipe::label),
            seed: job.seed,
            settings_hash: hash.to_owned(),
            steps: self.recipe.steps(job.method),
            seconds: run.run.status()?.seconds,
            checkpoints: run.checkpoints(self.recipe.evaluation.checkpoints)?,
            evaluations: Vec::new(),
            fit: None,
            curve: metrics::curve(&run.run.records()?, "evaluation/success"),
            provenance: Provenance {
                data_hash: self.datasets[job.dataset].data.content_hash().to_owned(),
                trained_by: run.run.manifest().made_by.git_revision.clone(),
                evaluated_by: Program::revision().map(str::to_owned),
                platform: Program::now().platform,
            },
        })
    }

    /// The hash of everything that the result of a job depends on. Other methods and seeds do not
    /// change it.
    fn settings_hash(&self, job: Job<'_>, config: &RunConfig) -> String {
        let dataset = &self.datasets[job.dataset];
        let planned: Vec<_> =
            self.recipe.planners.iter().map(|planner| self.recipe.planned(job.method, planner)).collect();
        let mut evaluation = vec![
            serde_json::json!(self.recipe.evaluation),
            serde_json::json!(self.recipe.planners),
            serde_json::json!(planned),
        ];
        evaluation.extend(self.recipe.methods[job.method.name()].alpha.map(serde_json::Value::from));
        let parts = [
            training::fingerprint(config),
            dataset.data.content_hash().to_owned(),
            dataset.reference.fingerprint(),
            serde_json::Value::from(evaluation).to_string(),
            PROTOCOL_VERSION.to_string(),
        ];
        sha256(parts.concat().as_bytes())[..16].to_owned()
    }

    fn info(&self, dataset: &StudyDataset) -> DatasetInfo {
        let evaluator = Evaluator { dataset, recipe: &self.recipe };
        let (episodes, seeds) = (self.recipe.evaluation.episodes, evaluator.task_seeds());
        let baselines = dataset.reference.baselines().into_iter();
        DatasetInfo {
            content_hash: dataset.data.content_hash().to_owned(),
            optimal_success: dataset.reference.optimal_success(episodes, &seeds),
            baselines: baselines
                .map(|(name, policy)| (name.to_owned(), evaluator.baseline(policy)))
                .collect(),
        }
    }
}
