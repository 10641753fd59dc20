//! Training, from a dataset to a model.

use crate::{
    agreement::{agree, check_equal},
    algorithm::Algorithm,
    callbacks::{Callbacks, StopHandle},
    components::Preset,
    device::{ComputeDevice, OpenDevice},
    error::{ConfigError, ConfigErrorKind, LearnError},
    evaluation::{Evaluation, ObservedSteps},
    model::{CheckpointSelector, Model},
    processes::Processes,
    run::{
        Assignment, ConfigBuilder, DataConfig, DatasetInfo, Lock, Manifest, OpenOptions, Run, RunConfig,
        State,
    },
    settings,
    trainer::{Outcome, Trainer},
};
use isochrone_data::Dataset;
use isochrone_nn::group::ProcessGroup;
use serde::Serialize;
use std::path::{Path, PathBuf};
use toml::Value;

/// A builder of training: an algorithm, its settings and, optionally, a run folder.
///
/// ```
/// use isochrone_data::Dataset;
/// use isochrone_learn::{Algorithm, Preset, Training};
///
/// // An episode along a line, with two-dimensional states and one-dimensional actions.
/// let states: Vec<f32> = (0..40).flat_map(|step| [step as f32, 0.0]).collect();
/// let data = Dataset::from_arrays(2, 1, [(states, vec![1.0; 39])])?;
///
/// let model = Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(3).set("critic.width", 16).fit(&data)?;
/// let distance = model.distance()?;
/// let policy = model.policy()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Settings have dotted names; the prefix `learner.` of an algorithm's settings may be omitted.
/// [`Algorithm::settings`] lists them. [`fit`](Self::fit) returns an error for an invalid setting
/// before anything is trained or written.
#[must_use = "nothing is trained before `fit` or `train`"]
pub struct Training {
    builder: ConfigBuilder,
    data: Option<DataConfig>,
    destination: Destination,
    validation: Option<Dataset>,
    evaluates_training_data: bool,
    evaluations: Vec<Box<dyn Evaluation>>,
    callbacks: Box<dyn Callbacks>,
    stop: StopHandle,
    device: ComputeDevice,
    group: Option<ProcessGroup>,
    /// The first error of a builder method.
    error: Option<LearnError>,
}

/// A training that was checked and whose folder exists, but that no other process knows of yet.
struct Prepared {
    config: RunConfig,
    device: OpenDevice,
    run: Option<(Run, Lock)>,
    /// Whether there is nothing left to do.
    is_finished: bool,
}

/// Where a training is stored.
enum Destination {
    Memory,
    /// A folder, which may already contain a run with the same settings.
    Folder(PathBuf),
    Run(Box<Run>),
}

/// The result of a training.
pub struct TrainingResult {
    /// The trained model.
    pub model: Model,
    /// How training ended.
    pub outcome: Outcome,
    /// The run and its lock, if the training has a folder.
    pub run: Option<(Run, Lock)>,
}

/// Trains CMD-1, unless settings or a configuration file name another algorithm.
impl Default for Training {
    fn default() -> Self {
        Self::from_builder(ConfigBuilder::default())
    }
}

impl Training {
    /// Creates a training in memory with the standard preset of an algorithm.
    pub fn new(algorithm: Algorithm) -> Self {
        Self::from_builder(ConfigBuilder { algorithm: Some(algorithm), ..ConfigBuilder::default() })
    }

    /// Creates a training with the settings of a complete configuration.
    pub fn from_config(config: RunConfig) -> Self {
        let data = Some(config.data.clone());
        Self { data, ..Self::from_builder(ConfigBuilder { base: Some(config), ..ConfigBuilder::default() }) }
    }

    /// Resumes the training of a run with its original settings.
    pub fn from_run(run: Run) -> Self {
        Self { destination: Destination::Run(Box::new(run)), ..Self::from_builder(ConfigBuilder::default()) }
    }

    fn from_builder(builder: ConfigBuilder) -> Self {
        Self {
            builder,
            data: None,
            destination: Destination::Memory,
            validation: None,
            evaluates_training_data: false,
            evaluations: Vec::new(),
            callbacks: Box::new(()),
            stop: StopHandle::default(),
            device: ComputeDevice::Cpu,
            group: None,
            error: None,
        }
    }

    /// Sets the network size preset; individual settings override it.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.builder.preset = preset;
        self
    }

    /// Sets the number of updates.
    pub fn steps(self, steps: u64) -> Self {
        self.set("steps", steps)
    }

    /// Sets the random seed.
    pub fn seed(self, seed: u64) -> Self {
        self.set("seed", seed)
    }

    /// Sets the number of transitions per update.
    pub fn batch_size(self, batch_size: usize) -> Self {
        self.set("batch_size", batch_size)
    }

    /// Sets the discount per step; 0.99 is an effective horizon of about 100 steps.
    pub fn discount(self, discount: f64) -> Self {
        self.set("discount", discount)
    }

    /// Sets a setting by its dotted name.
    pub fn set(self, name: &str, value: impl Serialize) -> Self {
        self.assign(name, value, false)
    }

    /// Sets a setting if the algorithm has it: for settings that several algorithms share.
    pub fn set_if_known(self, name: &str, value: impl Serialize) -> Self {
        self.assign(name, value, true)
    }

    fn assign(mut self, name: &str, value: impl Serialize, is_optional: bool) -> Self {
        match Value::try_from(value) {
            Ok(value) => {
                self.builder.assignments.push(Assignment { name: name.to_owned(), value, is_optional });
            }
            Err(error) => {
                let hint = "use a number, a string, a list or a table";
                let error = ConfigError::new(name, "", &error.to_string(), hint);
                self.error.get_or_insert(error.of_kind(ConfigErrorKind::WrongType).into());
            }
        }
        self
    }

    /// Reads settings from a file, for example the `config.toml` of a run; [`set`](Self::set)
    /// overrides them.
    ///
    /// If the file is of another algorithm, only its network sizes and optimizer settings are used.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn config_file(mut self, path: impl AsRef<Path>) -> Result<Self, LearnError> {
        let path = path.as_ref();
        self.builder.file = Some((path.to_owned(), RunConfig::read_table(path)?));
        Ok(self)
    }

    /// Sets the source of the data and their scaling, as stored with a run.
    pub fn data_config(self, data: DataConfig) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Sets the run folder. If the folder contains a run with the same settings and data, that run
    /// is resumed.
    pub fn run_dir(self, folder: impl AsRef<Path>) -> Self {
        Self { destination: Destination::Folder(folder.as_ref().to_owned()), ..self }
    }

    /// Evaluates on a validation dataset; see [`ObservedSteps`].
    pub fn validation(self, data: &Dataset) -> Self {
        Self { validation: Some(data.clone()), ..self }
    }

    /// Evaluates on the training data if there is no validation dataset; see [`ObservedSteps`].
    pub fn evaluate_training_data(self) -> Self {
        Self { evaluates_training_data: true, ..self }
    }

    /// Adds an evaluation. The first value of the first evaluation decides which checkpoint is the
    /// best; without any, that of [`ObservedSteps`].
    pub fn evaluation(mut self, evaluation: impl Evaluation + 'static) -> Self {
        self.evaluations.push(Box::new(evaluation));
        self
    }

    /// Sets the callbacks.
    pub fn callbacks(self, callbacks: impl Callbacks + 'static) -> Self {
        Self { callbacks: Box::new(callbacks), ..self }
    }

    /// Sets a handle that stops the training.
    pub fn stop(self, stop: StopHandle) -> Self {
        Self { stop, ..self }
    }

    /// Sets the device to train on; the default is the CPU. A run may be resumed on another device.
    pub fn device(self, device: ComputeDevice) -> Self {
        Self { device, ..self }
    }

    /// Trains together with other processes, each of which samples its part of every batch. All of
    /// them must have the same settings and data; only that of rank 0 may have a run folder.
    ///
    /// An error of one process before the first update is an error of all of them.
    pub fn group(self, group: ProcessGroup) -> Self {
        Self { group: Some(group).filter(|group| group.size() > 1), ..self }
    }

    /// Returns the source of the data according to settings and configuration file, with absolute
    /// paths; `None` if they name none.
    pub fn data_from_settings(&self) -> Result<Option<DataConfig>, LearnError> {
        self.builder.data()
    }

    /// Returns the complete configuration that [`fit`](Self::fit) would use.
    ///
    /// # Errors
    /// If a setting is unknown or invalid.
    pub fn config(&self, data: &Dataset) -> Result<RunConfig, LearnError> {
        let config = match &self.data {
            Some(config) => config.clone(),
            None => self.builder.data_in_memory()?,
        };
        self.builder.resolve(config, data)
    }

    /// Trains and returns the model.
    ///
    /// Training that was stopped returns the model at that step; see [`Model::step`].
    ///
    /// # Errors
    /// If a setting is invalid, the data are unsuitable, training diverges, or files cannot be read
    /// or written.
    pub fn fit(self, data: &Dataset) -> Result<Model, LearnError> {
        self.train(data).map(|result| result.model)
    }

    /// Trains and returns the model, the outcome and the run. A finished run is loaded and not
    /// trained again.
    pub fn train(mut self, data: &Dataset) -> Result<TrainingResult, LearnError> {
        let group = self.group.clone();
        let prepared = agree(group.as_ref(), self.prepare(data))?;
        if let Some(group) = &group {
            check_same_everywhere(group, &prepared.config, data)?;
        }
        match prepared.run {
            Some(of_run) if prepared.is_finished && group.is_none() => {
                let model = Model::of_run_on(&of_run.0, CheckpointSelector::Last, self.device)?;
                self.callbacks.on_start(&prepared.config, model.step);
                self.callbacks.on_end();
                Ok(TrainingResult { model, outcome: Outcome::Finished, run: Some(of_run) })
            }
            run => self.run(prepared.config, &prepared.device, run, data),
        }
    }

    /// Checks everything, and creates or opens the run.
    fn prepare(&mut self, data: &Dataset) -> Result<Prepared, LearnError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Some(validation) = &self.validation {
            let widths = |data: &Dataset| [data.spec().observation.width, data.spec().action.width];
            let (found, expected) = (widths(validation), widths(data));
            if found != expected {
                return Err(LearnError::ValidationWidths { found, expected });
            }
        }
        if self.group.is_some() && self.device != ComputeDevice::Cpu {
            return Err(LearnError::ProcessesNeedCpu);
        }
        let prepared = self.prepare_run(data)?;
        prepared.config.rows(self.group.as_ref().map_or(1, ProcessGroup::size))?;
        Ok(prepared)
    }

    /// Creates or opens the run, if there is one.
    fn prepare_run(&mut self, data: &Dataset) -> Result<Prepared, LearnError> {
        let device = self.device.open()?;
        let locked = |run: Run| run.lock().map(|lock| (run, lock));
        let (run, lock) = match std::mem::replace(&mut self.destination, Destination::Memory) {
            Destination::Memory => {
                let config = self.config(data)?;
                return Ok(Prepared { config, device, run: None, is_finished: false });
            }
            Destination::Folder(folder) => {
                let config = self.config(data)?;
                if folder.join("config.toml").exists() {
                    let algorithms = self.builder.algorithm.into_iter().collect();
                    let run = Run::open_with(&folder, &OpenOptions { algorithms, ..OpenOptions::default() })?;
                    check_same(&run, &config)?;
                    locked(run)?
                } else {
                    self.create(&folder, config, &device, data)?
                }
            }
            Destination::Run(run) => locked(*run)?,
        };
        self.check_data(&run, data)?;
        let config = run.config().clone();
        let checkpoints = run.checkpoints();
        let is_finished = run.status()?.state == State::Finished
            && checkpoints.steps()?.last() == Some(&config.steps)
            && checkpoints.load(config.steps).is_ok();
        Ok(Prepared { config, device, run: Some((run, lock)), is_finished })
    }

    /// Creates a run. The configuration is checked before anything is written.
    fn create(
        &self,
        folder: &Path,
        config: RunConfig,
        device: &OpenDevice,
        data: &Dataset,
    ) -> Result<(Run, Lock), LearnError> {
        let processes = self.group.as_ref().map_or(1, ProcessGroup::size);
        config.check_for(data, processes)?;
        let of_data = DatasetInfo::of(&config.data.path, data);
        let path = config.data.validation.clone().unwrap_or_default();
        let of_validation = self.validation.as_ref().map(|validation| DatasetInfo::of(&path, validation));
        let mut manifest = Manifest::now(&config.learner, config.seed, of_data, of_validation);
        manifest.made_by.processes = processes;
        manifest.made_by.device.clone_from(&device.description);
        Run::create(folder, config, manifest)
    }

    /// Checks that the data are those that the run was started with.
    fn check_data(&self, run: &Run, data: &Dataset) -> Result<(), LearnError> {
        let Manifest { data: of_data, validation: of_validation, .. } = run.manifest();
        let given = [
            ("training", Some(of_data), Some(data)),
            ("validation", of_validation.as_ref(), self.validation.as_ref()),
        ];
        for (role, known, given) in given {
            if known.map(|known| known.content_hash.as_str()) != given.map(Dataset::content_hash) {
                let path = known.map_or_else(PathBuf::new, |known| known.path.clone());
                return Err(LearnError::OtherData { path, role, folder: run.folder().into() });
            }
        }
        Ok(())
    }

    fn run(
        self,
        config: RunConfig,
        device: &OpenDevice,
        run: Option<(Run, Lock)>,
        data: &Dataset,
    ) -> Result<TrainingResult, LearnError> {
        let (run, lock) = run.unzip();
        let (discount, pairs, seed) = (config.discount(), config.metrics.evaluation_pairs, config.seed);
        let group = self.group.as_ref();
        let processes =
            group.map(|group| Processes::new(group, config.processes_per_group)).unwrap_or_default();
        let is_first = processes.rank() == 0;
        let mut evaluations = self.evaluations;
        let own_data = self.evaluates_training_data.then_some(data);
        let trainer = || -> Result<Trainer, LearnError> {
            if let Some(data) = self.validation.as_ref().or(own_data) {
                evaluations.push(Box::new(ObservedSteps::new(data, discount, pairs, seed)?));
            }
            let mut trainer = Trainer::new(config, run, data, device, processes, self.callbacks)?;
            // The best checkpoint is that of rank 0, which saves it.
            if is_first {
                trainer.evaluations = evaluations;
            }
            Ok(trainer)
        };
        let mut trainer = agree(group, trainer())?;
        trainer.share_state()?;
        let outcome = trainer.train(&self.stop)?;
        let model = trainer.model();
        Ok(TrainingResult { model, outcome, run: trainer.into_run().zip(lock) })
    }
}

/// Checks that all processes have the same settings and data.
fn check_same_everywhere(group: &ProcessGroup, config: &RunConfig, data: &Dataset) -> Result<(), LearnError> {
    let mut config = config.clone();
    // The data may be elsewhere on another machine.
    config.data.path = PathBuf::new();
    config.data.validation = None;
    let settings = settings::to_table(&config)?.to_string();
    check_equal(group, "configuration", settings.as_bytes())?;
    check_equal(group, "dataset", data.content_hash().as_bytes())
}

/// Checks that a run has these settings; the paths of the data may differ.
fn check_same(run: &Run, config: &RunConfig) -> Result<(), LearnError> {
    let mut known = run.config().clone();
    known.data.path.clone_from(&config.data.path);
    known.data.validation.clone_from(&config.data.validation);
    if known == *config {
        return Ok(());
    }
    let (known, given) = (settings::to_table(&known)?, settings::to_table(config)?);
    let text = |value: Option<&Value>| value.map_or_else(|| "(not set)".to_owned(), ToString::to_string);
    let names = settings::leaves(&known).into_iter().chain(settings::leaves(&given)).map(|(name, _)| name);
    let differs = |name: &String| settings::get(&known, name) != settings::get(&given, name);
    let setting = names.into_iter().find(differs).unwrap_or_default();
    Err(LearnError::OtherSettings {
        folder: run.folder().into(),
        found: text(settings::get(&known, &setting)),
        expected: text(settings::get(&given, &setting)),
        setting,
    })
}
