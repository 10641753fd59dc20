//! The loop: batches in, updates, and nothing lost.

use crate::{
    batch::{Crossing, sampler},
    error::{Divergence, LearnError},
    evaluation::Evaluation,
    learner::{Learner, Metrics},
    ledger::Ledger,
    model::Model,
    run::{Best, Checkpoint, Checkpoints, MetricsLog, Progress, Record, Run, State, Status},
    scaling::Scaling,
};
use burn::tensor::Device;
use isochrone_data::{
    Dataset,
    sampling::{GoalSampler, Loader},
};
use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// Batches that are made ahead: enough that a slow one is not felt.
const AHEAD: NonZeroUsize = NonZeroUsize::new(4).expect("not zero");

/// What somebody who watches is told.
pub trait Observer: Send {
    /// After every update.
    fn updated(&mut self, _step: u64) {}
    /// When a line of metrics was written.
    fn logged(&mut self, _record: &Record) {}
    /// When a checkpoint is safe on disk.
    fn saved(&mut self, _step: u64, _path: &Path) {}
    /// When something is not as it should be, but can be dealt with.
    fn warned(&mut self, _text: &str) {}
}

/// Nobody watches.
impl Observer for () {}

/// How training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All steps are done.
    Finished,
    /// It was asked to stop, and can go on.
    Stopped,
}

/// A run that is being trained.
pub struct Trainer<'a> {
    run: &'a Run,
    learner: Box<dyn Learner>,
    crossing: Crossing,
    sampler: GoalSampler,
    progress: Progress,
    log: MetricsLog,
    evaluations: Vec<Box<dyn Evaluation + 'a>>,
    last_saved: Option<PathBuf>,
    last_metrics: Metrics,
    /// Time of this session counts from here, after what went before.
    clock: (Instant, f64),
}

impl<'a> Trainer<'a> {
    /// A run at its last whole checkpoint, or at its start.
    ///
    /// # Errors
    /// If a setting is impossible, the data are not those of the run, or files cannot be read or written.
    pub fn new(
        run: &'a Run,
        data: Arc<Dataset>,
        device: &Device,
        observer: &mut dyn Observer,
    ) -> Result<Self, LearnError> {
        let config = run.config();
        if data.content_hash() != run.manifest().data.content_hash {
            let path = &run.manifest().data.path;
            return Err(LearnError::malformed(
                path,
                "its contents are not those that the run began with",
                "restore the file, or begin another run",
            ));
        }
        let setting = config.setting(data.spec(), device);
        let mut learner = config.learner.init(&setting)?;
        let sampler = sampler(&*learner, data.clone(), config.batch_size, &setting)?;
        let (checkpoint, warnings) = run.checkpoints().last_whole(Checkpoints::load)?;
        warnings.iter().for_each(|warning| observer.warned(warning));
        let (progress, scaling) = match checkpoint {
            None => (Progress::default(), Scaling::of(&data, config.data.scaling)?),
            Some(Checkpoint { progress, snapshot }) => {
                let restored = Ledger::resuming(snapshot).restore(&mut *learner, &setting);
                let scaling = restored.map_err(|problem| run.checkpoints().other(progress.step, problem))?;
                (progress, scaling)
            }
        };
        Ok(Self {
            run,
            learner,
            crossing: Crossing::new(&setting, scaling),
            sampler,
            log: MetricsLog::open(run.folder(), progress.step)?,
            evaluations: Vec::new(),
            last_saved: (progress.step > 0).then(|| run.checkpoints().path(progress.step)),
            last_metrics: Metrics::default(),
            clock: (Instant::now(), progress.seconds),
            progress,
        })
    }

    /// Adds somebody who judges from time to time. The first number of the first judge decides which checkpoint is the best.
    pub fn with_evaluation(mut self, evaluation: impl Evaluation + 'a) -> Self {
        self.evaluations.push(Box::new(evaluation));
        self
    }

    /// Updates done.
    pub fn step(&self) -> u64 {
        self.progress.step
    }

    /// What has been learned so far.
    pub fn model(&self) -> Model {
        let (discount, spec) = (self.run.config().discount(), self.sampler.data().spec());
        Model::of(&*self.learner, &self.crossing, discount, spec, self.progress.step)
    }

    /// Trains until all steps are done or `stop` is set; both end with a checkpoint.
    ///
    /// # Errors
    /// If a number is not finite, or files cannot be written.
    pub fn train(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<Outcome, LearnError> {
        // On a thread of the pool: work that is handed to it from elsewhere costs a wake-up each time, half of a small step.
        rayon::scope(|_| self.train_here(observer, stop))
    }

    fn train_here(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<Outcome, LearnError> {
        let config = self.run.config();
        self.run.checkpoints().remove_after(self.progress.step)?;
        self.run.begin_session(self.progress.step)?;
        self.set_state(State::Running, None)?;
        self.clock = (Instant::now(), self.progress.seconds);
        let one = NonZeroUsize::MIN;
        let mut loader = Loader::start(&self.sampler, self.progress.step, one, AHEAD);
        while self.progress.step < config.steps {
            if stop.load(Ordering::Relaxed) {
                self.save(observer)?;
                self.set_state(State::Stopped, None)?;
                return Ok(Outcome::Stopped);
            }
            let batch = self.crossing.batch(loader.next_batch());
            let metrics = self.learner.update(&batch);
            self.progress.step += 1;
            if let Some((name, value)) = metrics.not_finite() {
                return Err(self.diverged(name.to_owned(), value)?.into());
            }
            self.progress.window.add(&metrics);
            self.last_metrics = metrics;
            observer.updated(self.progress.step);
            self.report(observer)?;
        }
        self.save(observer)?;
        self.set_state(State::Finished, None)?;
        Ok(Outcome::Finished)
    }

    /// What is due after an update: a line of metrics, an evaluation, a checkpoint.
    fn report(&mut self, observer: &mut dyn Observer) -> Result<(), LearnError> {
        let config = self.run.config();
        let step = self.progress.step;
        let is_due = |every: u64| every > 0 && (step.is_multiple_of(every) || step == config.steps);
        let mut values = if is_due(config.metrics.every) { self.progress.window.take() } else { Vec::new() };
        let is_best = is_due(config.metrics.evaluate_every) && self.evaluate(&mut values);
        if let Some((name, _)) = values.iter().find(|(_, value)| value.is_nan()) {
            observer.warned(&format!("step {step}: {name} is not a number; has training diverged?"));
        }
        if !values.is_empty() {
            let record = Record { step, seconds: self.seconds(), values };
            self.log.add(&record)?;
            observer.logged(&record);
        }
        if is_best || is_due(config.checkpoints.every) {
            self.save(observer)?;
        }
        Ok(())
    }

    /// Adds what judges say; whether it is the best so far.
    fn evaluate(&mut self, values: &mut Vec<(String, f64)>) -> bool {
        if self.evaluations.is_empty() {
            return false;
        }
        let model = self.model();
        let judged: Vec<(String, f64)> =
            self.evaluations.iter_mut().flat_map(|judge| judge.evaluate(&model)).collect();
        let first = judged.first().cloned();
        values.extend(judged.into_iter().map(|(name, value)| (format!("evaluation/{name}"), value)));
        match (first, &self.progress.best) {
            (Some((_, value)), Some(best)) if !value.is_finite() || value <= best.value => false,
            (Some((metric, value)), _) if value.is_finite() => {
                self.progress.best = Some(Best { step: self.progress.step, metric, value });
                true
            }
            _ => false,
        }
    }

    fn save(&mut self, observer: &mut dyn Observer) -> Result<(), LearnError> {
        let path = self.run.checkpoints().path(self.progress.step);
        if self.last_saved.as_ref() == Some(&path) {
            return Ok(());
        }
        self.progress.seconds = self.seconds();
        let mut ledger = Ledger::saving();
        self.learner.exchange(&mut ledger).expect("saving cannot fail");
        self.crossing.scaling().insert_into(ledger.weights());
        let snapshot = ledger.into_snapshot();
        // An update may overflow a weight although its loss was finite: what is kept must be good.
        if let Some(name) = snapshot.weights.not_finite() {
            return Err(self.diverged(format!("weight {name}"), f64::NAN)?.into());
        }
        self.log.sync()?;
        let path = self.run.checkpoints().save(&self.progress, &snapshot, self.run.config().checkpoints)?;
        self.set_state(State::Running, None)?;
        observer.saved(self.progress.step, &path);
        self.last_saved = Some(path);
        Ok(())
    }

    fn diverged(&self, metric: String, value: f64) -> Result<Divergence, LearnError> {
        let divergence = Divergence {
            step: self.progress.step,
            value,
            last_finite: self.last_metrics.get(&metric),
            last_checkpoint: self.last_saved.clone(),
            hint: "begin another run with a lower learning rate or largest_gradient = 1, and look for outliers with isochrone data validate".to_owned(),
            metric,
        };
        self.set_state(State::Diverged, Some(divergence.to_string()))?;
        Ok(divergence)
    }

    fn set_state(&self, state: State, reason: Option<String>) -> Result<(), LearnError> {
        let Progress { step, best, .. } = &self.progress;
        self.run.set_status(&Status {
            state,
            step: *step,
            seconds: self.seconds(),
            best: best.clone(),
            reason,
        })
    }

    fn seconds(&self) -> f64 {
        self.clock.1 + self.clock.0.elapsed().as_secs_f64()
    }
}
