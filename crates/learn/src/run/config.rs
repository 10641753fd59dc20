//! The configuration of a run.

use crate::{
    algorithm::{Algorithm, LearnerConfig},
    batch::{Rows, sampler},
    components::Preset,
    context::LearnerContext,
    error::{ConfigError, ConfigErrorKind, LearnError},
    scaling::{Scaling, ScalingConfig},
    settings,
};
use burn::tensor::Device;
use isochrone_core::Discount;
use isochrone_data::{Dataset, Spec, end_alike, formats::ReadOptions};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use toml::{Table, Value};

/// More rows than any method needs. Losses over all pairs of a batch would take the memory of the
/// machine long before.
const MAX_BATCH_SIZE: usize = 1 << 16;

/// The complete configuration of a run, written to the run's folder with all defaults filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The number of updates.
    pub steps: u64,
    /// The number of transitions per update.
    pub batch_size: usize,
    /// The number of processes that use each other's rows as negatives, if several train together;
    /// all of them if it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes_per_group: Option<usize>,
    /// The discount per step; 0.99 is an effective horizon of about 100 steps.
    pub discount: f64,
    /// The random seed.
    pub seed: u64,
    /// The dataset.
    pub data: DataConfig,
    /// The metrics.
    pub metrics: MetricsConfig,
    /// The checkpoints.
    pub checkpoints: CheckpointConfig,
    /// The algorithm and its settings.
    #[serde(skip_deserializing, default = "unset")]
    pub learner: LearnerConfig,
}

/// A placeholder for what [`RunConfig::from_table`] reads, which knows all algorithms.
fn unset() -> LearnerConfig {
    Algorithm::Gcbc.preset(Preset::Small)
}

/// The dataset of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DataConfig {
    /// The training dataset: a file or folder of any supported format.
    pub path: PathBuf,
    /// The validation dataset; without it, evaluation uses `path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<PathBuf>,
    /// One of this many episodes is held out for validation; 0 for none. Without it, `path` is not
    /// divided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_out: Option<usize>,
    /// How observations are scaled.
    pub scaling: ScalingConfig,
    /// The number of rows of a batch from the same episode: 1, or a power of two up to 128. The
    /// default depends on the data; see [`RunConfig::for_data`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_per_episode: Option<usize>,
    /// Options for reading the files.
    pub read: ReadOptions,
}

/// How often metrics are logged and models evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricsConfig {
    /// The number of updates between metrics records, which hold means since the last record.
    pub every: u64,
    /// The number of updates between evaluations; 0 for none.
    pub evaluate_every: u64,
    /// The number of pairs of states per evaluation.
    pub evaluation_pairs: usize,
}

/// How often checkpoints are saved and how many are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointConfig {
    /// The number of updates between checkpoints.
    pub every: u64,
    /// The number of latest checkpoints to keep, besides the best.
    pub keep_last: usize,
}

impl DataConfig {
    /// Returns the training and the validation part of the dataset, if episodes are held out.
    ///
    /// # Errors
    /// If a part would be empty, or there is another validation dataset.
    pub fn held_out(&self, data: &Dataset) -> Result<Option<(Dataset, Dataset)>, ConfigError> {
        let Some(one_in) = self.hold_out.filter(|one_in| *one_in > 0) else { return Ok(None) };
        let fail = |problem: &str, hint: &str| ConfigError::new("data.hold_out", one_in, problem, hint);
        if self.validation.is_some() {
            return Err(fail("does not go with data.validation", "set one of them"));
        }
        let parts = data.hold_out(one_in).ok_or_else(|| {
            let problem = format!("leaves an empty part of {} episodes", data.n_episodes());
            fail(&problem, "use a number from 2 up to that of the episodes, or 0 to hold out none")
        });
        parts.map(Some)
    }
}

impl RunConfig {
    /// The default number of updates.
    pub const DEFAULT_STEPS: u64 = 50_000;

    /// Returns defaults for a dataset: an effective horizon of a tenth of an episode, between 10
    /// and 100 steps, and batches no larger than the dataset.
    ///
    /// If episodes end in similar states, as demonstrations do, some algorithms sample a batch from
    /// few episodes: contrasted with states of other episodes, a state is identified by its
    /// episode, and a critic that learns this shortcut is useless between episodes.
    pub fn for_data(learner: LearnerConfig, mut data: DataConfig, steps: u64, dataset: &Dataset) -> Self {
        let index = dataset.index();
        let per_demonstration = learner.algorithm().rows_per_demonstration();
        let default = || if per_demonstration > 1 && end_alike(dataset) { per_demonstration } else { 1 };
        data.rows_per_episode = Some(data.rows_per_episode.unwrap_or_else(default));
        let steps_per_episode = index.n_transitions() as f64 / index.n_episodes().max(1) as f64;
        let horizon = (steps_per_episode / 10.0).clamp(10.0, 100.0).round();
        let discount = 1.0 - 1.0 / horizon;
        Self {
            steps,
            batch_size: index.n_transitions().clamp(2, 256) as usize,
            processes_per_group: None,
            // Three digits, so that the number is easy to repeat.
            discount: (discount * 1e3).round() / 1e3,
            seed: 0,
            data,
            metrics: MetricsConfig {
                every: (steps / 200).max(1),
                evaluate_every: (steps / 200).max(1) * 10,
                evaluation_pairs: 1024,
            },
            checkpoints: CheckpointConfig { every: (steps / 20).max(1), keep_last: 2 },
            learner,
        }
    }

    /// Returns the rows of a batch that each of several processes samples.
    ///
    /// # Errors
    /// If the batch or the processes cannot be divided evenly.
    pub(crate) fn rows(&self, processes: usize) -> Result<Rows, ConfigError> {
        let rows_per_episode = self.data.rows_per_episode.unwrap_or(1);
        let multiple = processes * rows_per_episode;
        if processes > 1 && !self.batch_size.is_multiple_of(multiple) {
            let problem = format!("cannot be divided among {processes} processes");
            let larger = self.batch_size.next_multiple_of(multiple);
            let hint = match rows_per_episode {
                1 => format!("use a multiple of {processes}, such as {larger}"),
                rows => format!(
                    "use a multiple of {multiple}, such as {larger}, or a smaller data.rows_per_episode than {rows}"
                ),
            };
            return Err(ConfigError::new("batch_size", self.batch_size, &problem, hint));
        }
        if let Some(size) = self.processes_per_group
            && (size == 0 || !processes.is_multiple_of(size))
        {
            let problem = format!("does not divide the {processes} processes of the run");
            let hint = "use a divisor, or omit it for negatives from all processes";
            return Err(ConfigError::new("processes_per_group", size, &problem, hint));
        }
        Ok(Rows { batch_size: self.batch_size / processes, rows_per_episode })
    }

    /// The discount, whose range has been checked.
    pub fn discount(&self) -> Discount {
        Discount::new(self.discount).expect("checked when it was resolved")
    }

    /// Reads a complete configuration; its algorithm is one of this crate or of `others`.
    ///
    /// # Errors
    /// If a setting is missing, unknown or has the wrong type.
    pub fn from_table(mut table: Table, others: &[Algorithm]) -> Result<Self, ConfigError> {
        let mut learner = match table.remove("learner") {
            Some(Value::Table(learner)) => learner,
            other => {
                let value = other.map_or_else(String::new, |value| value.to_string());
                let hint = "this table holds the algorithm and its settings";
                let error = ConfigError::new("learner", value, "is not a table", hint);
                return Err(error.of_kind(ConfigErrorKind::WrongType));
            }
        };
        let algorithm = algorithm_named(learner.remove(LearnerConfig::ALGORITHM), others)?;
        let learner = LearnerConfig::from_table(algorithm, learner)?;
        Ok(Self { learner, ..settings::read(table)? })
    }

    /// Returns the context of its learner.
    pub fn context(&self, spec: &Spec, device: &Device) -> LearnerContext {
        LearnerContext::new(spec, self.discount(), self.seed, self.steps, device)
    }

    /// Checks that the settings suit a dataset and a number of processes, before anything is
    /// written.
    pub fn check_for(&self, data: &Dataset, processes: usize) -> Result<(), LearnError> {
        let context = self.context(data.spec(), &crate::cpu());
        sampler(self.learner.init(&context)?.goals(), data, self.rows(processes)?, &context)?;
        Scaling::of(data, self.data.scaling).map(|_| ())
    }

    pub(super) fn check(&self) -> Result<(), LearnError> {
        Discount::new(self.discount)?;
        let integers = [
            ("steps", self.steps, 1),
            ("batch_size", self.batch_size as u64, 2),
            ("metrics.every", self.metrics.every, 1),
            ("metrics.evaluation_pairs", self.metrics.evaluation_pairs as u64, 2),
            ("checkpoints.every", self.checkpoints.every, 1),
            ("checkpoints.keep_last", self.checkpoints.keep_last as u64, 1),
        ];
        if self.batch_size > MAX_BATCH_SIZE {
            let problem = format!("must be at most {MAX_BATCH_SIZE}");
            let hint = "most losses compare all pairs of a batch; the paper has 1024";
            return Err(ConfigError::new("batch_size", self.batch_size, &problem, hint).into());
        }
        match integers.into_iter().find(|(_, value, min)| value < min) {
            Some((field, value, min)) => {
                let problem = format!("must be at least {min}");
                Err(ConfigError::new(field, value, &problem, "omit it for the default").into())
            }
            None => Ok(()),
        }
    }
}

/// Returns the algorithm with this name, of this crate or of `others`.
pub(super) fn algorithm_named(name: Option<Value>, others: &[Algorithm]) -> Result<Algorithm, ConfigError> {
    let name = match name {
        Some(Value::String(name)) => name,
        other => other.map_or_else(String::new, |value| value.to_string()),
    };
    let all = || others.iter().copied().chain(Algorithm::ALL);
    all().find(|algorithm| algorithm.name() == name).ok_or_else(|| {
        let names: Vec<&str> = all().map(Algorithm::name).collect();
        let hint = format!("use one of {}", names.join(", "));
        ConfigError::new("learner.algorithm", name, "unknown algorithm", hint)
            .of_kind(ConfigErrorKind::WrongType)
    })
}
