//! The training loop.

use crate::{
    agreement::check_equal,
    batch::{BatchTransform, sampler},
    callbacks::{Callbacks, StopHandle},
    context::LearnerContext,
    device::OpenDevice,
    error::{Divergence, LearnError},
    evaluation::Evaluation,
    learner::Learner,
    metrics::Metrics,
    model::Model,
    processes::Processes,
    restore::{restore, save},
    run::{
        Best, Checkpoint, Checkpoints, MetricsLog, Progress, Provenance, Record, Run, RunConfig, State,
        Status,
    },
    scaling::Scaling,
    shared_state::SharedState,
};
use isochrone_core::InstructionSet;
use isochrone_data::{
    Dataset,
    sampling::{GoalSampler, Loader},
};
use isochrone_nn::state_dict::Mode;
use std::{num::NonZeroUsize, path::PathBuf, time::Instant};

/// The number of batches that are prepared ahead, enough to hide a slow one.
const AHEAD: NonZeroUsize = NonZeroUsize::new(4).expect("not zero");

/// How training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All steps are done.
    Finished,
    /// Training was stopped, and can be resumed if it has a folder.
    Stopped,
}

/// Training in memory or, with a run, on disk.
pub struct Trainer {
    config: RunConfig,
    learner: Box<dyn Learner>,
    transform: BatchTransform,
    sampler: GoalSampler,
    progress: Progress,
    disk: Option<Disk>,
    /// The first value of the first evaluation decides which checkpoint is the best.
    pub evaluations: Vec<Box<dyn Evaluation>>,
    callbacks: Box<dyn Callbacks>,
    context: LearnerContext,
    device: OpenDevice,
    last_metrics: Metrics,
    /// The start of this session, and the seconds of earlier ones.
    clock: (Instant, f64),
}

/// The run and its files.
struct Disk {
    run: Run,
    log: MetricsLog,
    last_saved: Option<PathBuf>,
}

impl Trainer {
    /// Creates a trainer before the first update or, with a run, at its latest valid checkpoint. Of
    /// several processes, only that of rank 0 has a run; see [`share_state`](Self::share_state).
    pub fn new(
        config: RunConfig,
        run: Option<Run>,
        data: &Dataset,
        device: &OpenDevice,
        processes: Processes,
        mut callbacks: Box<dyn Callbacks>,
    ) -> Result<Self, LearnError> {
        let rows = config.rows(processes.size())?;
        let context = config.context(data.spec(), &device.device.clone().autodiff());
        let mut context = LearnerContext { processes, ..context };
        let checkpoints = run.as_ref().map(Run::checkpoints);
        let mut latest = None;
        if let Some(checkpoints) = &checkpoints {
            let (checkpoint, warnings) = checkpoints.latest_valid(Checkpoints::load)?;
            warnings.iter().for_each(|warning| callbacks.on_warning(warning));
            latest = checkpoint.map(|checkpoint| (checkpoints, checkpoint));
        }
        if let Some((_, checkpoint)) = &latest {
            context = context.limited_by(&checkpoint.snapshot.weights);
        }
        let mut learner = config.learner.init(&context)?;
        let sampler = sampler(learner.goals(), data, rows, &context)?;
        let (progress, scaling) = match latest {
            None => (Progress::default(), Scaling::of(data, config.data.scaling)?),
            Some((checkpoints, Checkpoint { progress, snapshot })) => {
                let restored = restore(&mut *learner, Mode::Resume, snapshot, &context);
                let scaling = restored.map_err(|problem| checkpoints.mismatch(progress.step, &problem))?;
                (progress, scaling)
            }
        };
        let on_disk = |run: Run| {
            let log = MetricsLog::open(run.folder(), progress.step)?;
            let last_saved = (progress.step > 0).then(|| run.checkpoints().path(progress.step));
            Ok::<_, LearnError>(Disk { run, log, last_saved })
        };
        Ok(Self {
            disk: run.map(on_disk).transpose()?,
            config,
            learner,
            transform: BatchTransform::new(&context, scaling),
            sampler,
            evaluations: Vec::new(),
            callbacks,
            context,
            device: device.clone(),
            last_metrics: Metrics::default(),
            clock: (Instant::now(), progress.seconds),
            progress,
        })
    }

    /// Sends the state of rank 0 to all processes, which must call it together.
    pub fn share_state(&mut self) -> Result<(), LearnError> {
        let Some(group) = self.context.processes.all().cloned() else { return Ok(()) };
        let is_first = group.rank() == 0;
        let bytes = if is_first { self.state().to_bytes() } else { Vec::new() };
        let bytes = group.broadcast("state", bytes);
        if !is_first {
            let SharedState { step, state } = SharedState::from_bytes(&bytes)?;
            self.progress.step = step;
            let scaling = restore(&mut *self.learner, Mode::Resume, state, &self.context)
                .map_err(|_| LearnError::Message)?;
            self.transform = BatchTransform::new(&self.context, scaling);
        }
        Ok(())
    }

    fn state(&mut self) -> SharedState {
        SharedState { step: self.progress.step, state: save(&mut *self.learner, self.transform.scaling()) }
    }

    /// Returns the current model.
    pub fn model(&self) -> Model {
        let spec = self.sampler.data().spec();
        Model::of(&*self.learner, &self.config, &self.transform, spec, self.progress.step)
    }

    /// Returns the run, if there is one.
    pub fn into_run(self) -> Option<Run> {
        self.disk.map(|disk| disk.run)
    }

    /// Trains until all steps are done or a stop is requested, and saves a checkpoint in both
    /// cases.
    pub fn train(&mut self, stop: &StopHandle) -> Result<Outcome, LearnError> {
        // On a thread of the pool: submitting work from outside costs a wake-up each time, which is
        // half of a small step.
        let outcome = rayon::scope(|_| self.train_in_pool(stop));
        self.callbacks.on_end();
        outcome
    }

    fn train_in_pool(&mut self, stop: &StopHandle) -> Result<Outcome, LearnError> {
        if let Some(Disk { run, .. }) = &self.disk {
            run.checkpoints().remove_after(self.progress.step)?;
            if self.progress.step > 0 {
                run.checkpoints().prune(&self.progress, self.config.checkpoints)?;
            }
            let (before, now) = (run.manifest().made_by.processes, self.context.processes.size());
            if before != now {
                let warning = format!(
                    "the run was started with {before} processes and continues with {now}: rounding, and with it the result, differs"
                );
                self.callbacks.on_warning(&warning);
            }
            let (started_on, device) = (&run.manifest().made_by.device, &self.device);
            if !device.is(started_on) {
                let warning = format!(
                    "the run was started on {started_on} and continues on {}: rounding, and with it the result, differs",
                    device.description
                );
                self.callbacks.on_warning(&warning);
            }
            let (started_with, used) = (&run.manifest().made_by.instruction_set, InstructionSet::in_use());
            if !started_with.is_empty() && *started_with != used.name() {
                let warning = format!(
                    "the run was started with {started_with} instructions and continues with {used}: rounding, and with it the result, differs"
                );
                self.callbacks.on_warning(&warning);
            }
            let device = device.description.clone();
            let made_by = Provenance { processes: now, device, ..Provenance::now() };
            run.log_session(self.progress.step, &made_by)?;
        }
        self.set_state(State::Running, None)?;
        self.callbacks.on_start(&self.config, self.progress.step);
        self.clock = (Instant::now(), self.progress.seconds);
        let one = NonZeroUsize::MIN;
        let mut loader = Loader::start(&self.sampler, self.progress.step, one, AHEAD);
        let is_alone = self.context.processes.size() == 1;
        // Several processes agree once per update, and stop after the next one.
        let mut is_agreed = false;
        while self.progress.step < self.config.steps {
            if is_agreed || is_alone && stop.is_stopped() {
                self.save()?;
                self.set_state(State::Stopped, None)?;
                return Ok(Outcome::Stopped);
            }
            let batch = self.transform.batch(loader.next_batch());
            let mut metrics = self.learner.update(&batch);
            is_agreed = self.context.processes.agree_on_step(&mut metrics, stop.is_stopped());
            self.progress.step += 1;
            if let Some((name, value)) = metrics.first_non_finite() {
                return Err(self.diverged(name.to_owned(), value)?.into());
            }
            self.progress.window.add(&metrics);
            self.last_metrics = metrics;
            self.callbacks.on_step(self.progress.step);
            self.report()?;
        }
        self.save()?;
        self.set_state(State::Finished, None)?;
        Ok(Outcome::Finished)
    }

    /// Does what is due after an update: a metrics record, an evaluation, a checkpoint.
    fn report(&mut self) -> Result<(), LearnError> {
        let (step, total) = (self.progress.step, self.config.steps);
        let is_due = |every: u64| every > 0 && (step.is_multiple_of(every) || step == total);
        let (metrics, checkpoints) = (self.config.metrics, self.config.checkpoints);
        let mut values = if is_due(metrics.every) { self.progress.window.take() } else { Vec::new() };
        let is_best = is_due(metrics.evaluate_every) && self.evaluate(&mut values);
        if let Some((name, _)) = values.iter().find(|(_, value)| value.is_nan()) {
            let warning = format!("step {step}: {name} is NaN; training may have diverged");
            self.callbacks.on_warning(&warning);
        }
        if !values.is_empty() {
            let record = Record { step, seconds: self.seconds(), values };
            if let Some(disk) = &mut self.disk {
                disk.log.add(&record)?;
            }
            self.callbacks.on_metrics(&record);
        }
        if is_due(checkpoints.every) {
            self.check_equal_states()?;
        }
        if self.disk.is_some() && (is_best || is_due(checkpoints.every)) {
            self.save()?;
        }
        Ok(())
    }

    /// Checks that all processes have the same state, bit by bit: an algorithm that does not
    /// average its gradients, or a process on another type of processor, is an error and not a bad
    /// result.
    fn check_equal_states(&mut self) -> Result<(), LearnError> {
        let Some(group) = self.context.processes.all().cloned() else { return Ok(()) };
        check_equal(&group, "state after an update", &self.state().to_bytes())
    }

    /// Adds the values of all evaluations and returns whether the first is the best so far.
    fn evaluate(&mut self, values: &mut Vec<(String, f64)>) -> bool {
        if self.evaluations.is_empty() {
            return false;
        }
        let model = self.model();
        let evaluated: Vec<(String, f64)> =
            self.evaluations.iter_mut().flat_map(|evaluation| evaluation.evaluate(&model)).collect();
        let first = evaluated.first().cloned();
        values.extend(evaluated.into_iter().map(|(name, value)| (format!("evaluation/{name}"), value)));
        let Some((metric, value)) = first.filter(|(_, value)| value.is_finite()) else { return false };
        let is_best = self.progress.best.as_ref().is_none_or(|best| value > best.value);
        if is_best {
            self.progress.best = Some(Best { step: self.progress.step, metric, value });
        }
        is_best
    }

    /// Checks that all weights are finite and, if there is a run, saves a checkpoint.
    fn save(&mut self) -> Result<(), LearnError> {
        let step = self.progress.step;
        let is_saved = |disk: &Disk| disk.last_saved.as_ref() == Some(&disk.run.checkpoints().path(step));
        if self.disk.as_ref().is_some_and(is_saved) {
            return Ok(());
        }
        self.progress.seconds = self.seconds();
        let state = save(&mut *self.learner, self.transform.scaling());
        // An update may overflow a weight although its loss was finite; such weights are never
        // saved.
        if let Some(name) = state.weights.first_non_finite() {
            return Err(self.diverged(format!("weight {name}"), f64::NAN)?.into());
        }
        let Some(disk) = &mut self.disk else { return Ok(()) };
        disk.log.sync()?;
        let path = disk.run.checkpoints().save(&self.progress, &state, self.config.checkpoints)?;
        disk.last_saved = Some(path.clone());
        self.set_state(State::Running, None)?;
        self.callbacks.on_checkpoint(step, &path);
        Ok(())
    }

    fn diverged(&self, metric: String, value: f64) -> Result<Divergence, LearnError> {
        let divergence = Divergence {
            step: self.progress.step,
            value,
            last_finite: self.last_metrics.get(&metric),
            last_checkpoint: self.disk.as_ref().and_then(|disk| disk.last_saved.clone()),
            metric,
        };
        self.set_state(State::Diverged, Some(divergence.to_string()))?;
        Ok(divergence)
    }

    fn set_state(&self, state: State, reason: Option<String>) -> Result<(), LearnError> {
        let Some(disk) = &self.disk else { return Ok(()) };
        let Progress { step, best, .. } = &self.progress;
        let (step, best, seconds) = (*step, best.clone(), self.seconds());
        disk.run.set_status(&Status { state, step, seconds, best, reason })
    }

    fn seconds(&self) -> f64 {
        self.clock.1 + self.clock.0.elapsed().as_secs_f64()
    }
}
