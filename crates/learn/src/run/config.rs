//! What a run is told, completed from the data.

use crate::{
    algorithm::{Algorithm, LearnerConfig},
    batch::sampler,
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

/// Everything that decides what a run does. Written to the run's folder with nothing left to defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// Updates of every network.
    pub steps: u64,
    /// Transitions of an update.
    pub batch_size: usize,
    /// How far ahead one looks: 0.99 about 100 steps.
    pub discount: f64,
    /// Of everything random.
    pub seed: u64,
    /// What is learned from.
    pub data: DataConfig,
    /// What is watched.
    pub metrics: MetricsConfig,
    /// What is kept.
    pub checkpoints: CheckpointConfig,
    /// The algorithm and its settings.
    #[serde(skip_deserializing, default = "unset")]
    pub learner: LearnerConfig,
}

/// Read by [`RunConfig::from_table`], which knows all algorithms.
fn unset() -> LearnerConfig {
    Algorithm::Gcbc.preset(Preset::Small)
}

/// What is learned from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DataConfig {
    /// A file or folder of any known format.
    pub path: PathBuf,
    /// Episodes to judge by, that are not learned from; without them, evaluation looks at `path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<PathBuf>,
    /// How observations are scaled.
    pub scaling: ScalingConfig,
    /// Rows of a batch that are of the same episode: 1, or a power of two up to 128. Unless it is set, it follows from the data: see
    /// [`RunConfig::for_data`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_per_episode: Option<usize>,
    /// What the files do not say themselves.
    pub read: ReadOptions,
}

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricsConfig {
    /// A line of metrics every so many steps: the mean since the last.
    pub every: u64,
    /// An evaluation every so many steps; 0 for none.
    pub evaluate_every: u64,
    /// Pairs of states that an evaluation looks at.
    pub evaluation_pairs: usize,
}

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointConfig {
    /// One every so many steps.
    pub every: u64,
    /// How many of the last are kept; the best is kept besides.
    pub keep_last: usize,
}

impl RunConfig {
    /// Updates, unless somebody says otherwise.
    pub const DEFAULT_STEPS: u64 = 50_000;

    /// Defaults that fit the data: a horizon of a tenth of an episode, between 10 and 100 steps; batches no larger than the data.
    ///
    /// Where episodes end alike, as demonstrations do, a batch of some algorithms is of few episodes: contrasted with states of
    /// other episodes, a state is told by its episode, and a critic that learns this is of no use between episodes.
    pub fn for_data(learner: LearnerConfig, mut data: DataConfig, steps: u64, dataset: &Dataset) -> Self {
        let index = dataset.index();
        let demonstrated = learner.algorithm().rows_per_demonstration();
        let by_data = || if demonstrated > 1 && end_alike(dataset) { demonstrated } else { 1 };
        data.rows_per_episode = Some(data.rows_per_episode.unwrap_or_else(by_data));
        let steps_per_episode = index.n_transitions() as f64 / index.n_episodes().max(1) as f64;
        let horizon = (steps_per_episode / 10.0).clamp(10.0, 100.0).round();
        let discount = 1.0 - 1.0 / horizon;
        Self {
            steps,
            batch_size: index.n_transitions().clamp(2, 256) as usize,
            // Three digits: a number that people can repeat.
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

    /// Rows of a batch, and those of them that are of one episode.
    pub(crate) fn rows(&self) -> (usize, usize) {
        (self.batch_size, self.data.rows_per_episode.unwrap_or(1))
    }

    /// The discount, checked.
    pub fn discount(&self) -> Discount {
        Discount::new(self.discount).expect("checked when it was resolved")
    }

    /// Reads a whole configuration; its algorithm is one of this crate or of `others`.
    ///
    /// # Errors
    /// If a setting is missing, unknown or has the wrong type.
    pub fn from_table(mut table: Table, others: &[Algorithm]) -> Result<Self, ConfigError> {
        let mut learner = match table.remove("learner") {
            Some(Value::Table(learner)) => learner,
            other => {
                let value = other.map_or_else(String::new, |value| value.to_string());
                let hint = "it holds the algorithm and its settings";
                let error = ConfigError::new("learner", value, "is not a table", hint);
                return Err(error.of_kind(ConfigErrorKind::WrongType));
            }
        };
        let algorithm = algorithm_named(learner.remove(LearnerConfig::ALGORITHM), others)?;
        let learner = LearnerConfig::from_table(algorithm, learner)?;
        Ok(Self { learner, ..settings::read(table)? })
    }

    /// The problem that its learner is built for.
    pub fn context(&self, spec: &Spec, device: &Device) -> LearnerContext {
        LearnerContext::new(spec, self.discount(), self.seed, self.steps, device)
    }

    /// Refuses settings that cannot work for these data, before anything is written.
    pub fn check_for(&self, data: &Dataset) -> Result<(), LearnError> {
        let context = self.context(data.spec(), &crate::cpu());
        sampler(self.learner.init(&context)?.goals(), data, self.rows(), &context)?;
        Scaling::of(data, self.data.scaling).map(|_| ())
    }

    pub(super) fn check(&self) -> Result<(), LearnError> {
        Discount::new(self.discount)?;
        let whole = [
            ("steps", self.steps, 1),
            ("batch_size", self.batch_size as u64, 2),
            ("metrics.every", self.metrics.every, 1),
            ("metrics.evaluation_pairs", self.metrics.evaluation_pairs as u64, 2),
            ("checkpoints.every", self.checkpoints.every, 1),
            ("checkpoints.keep_last", self.checkpoints.keep_last as u64, 1),
        ];
        match whole.into_iter().find(|(_, value, least)| value < least) {
            Some((field, value, least)) => {
                let problem = format!("must be at least {least}");
                Err(ConfigError::new(field, value, &problem, "leave it out for the default").into())
            }
            None => Ok(()),
        }
    }
}

/// The algorithm of this name, of this crate or of `others`.
pub(super) fn algorithm_named(name: Option<Value>, others: &[Algorithm]) -> Result<Algorithm, ConfigError> {
    let name = match name {
        Some(Value::String(name)) => name,
        other => other.map_or_else(String::new, |value| value.to_string()),
    };
    let all = || others.iter().copied().chain(Algorithm::ALL);
    all().find(|algorithm| algorithm.name() == name).ok_or_else(|| {
        let names: Vec<&str> = all().map(Algorithm::name).collect();
        let hint = format!("one of {}", names.join(", "));
        ConfigError::new("learner.algorithm", name, "is not an algorithm", hint)
            .of_kind(ConfigErrorKind::WrongType)
    })
}
