//! What a run is told, completed from the data.

use crate::{
    algos::AlgorithmConfig,
    batch::sampler,
    error::{ConfigError, LearnError},
    scaling::{Scaling, ScalingConfig},
    setting::Setting,
};
use burn::tensor::Device;
use isochrone_core::Discount;
use isochrone_data::{Dataset, EpisodeIndex, Spec, formats::ReadOptions};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, sync::Arc};

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
    /// The algorithm.
    pub learner: AlgorithmConfig,
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
    pub const USUAL_STEPS: u64 = 50_000;

    /// Defaults that fit the data: a horizon of a tenth of an episode, between 10 and 100 steps; batches no larger than the data.
    pub fn for_data(learner: AlgorithmConfig, data: DataConfig, steps: u64, index: &EpisodeIndex) -> Self {
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

    /// The discount, checked.
    pub fn discount(&self) -> Discount {
        Discount::new(self.discount).expect("checked when it was resolved")
    }

    /// The problem that its learner is built for.
    pub fn setting(&self, spec: &Spec, device: &Device) -> Setting {
        Setting::of(spec, self.discount(), self.seed, self.steps, device)
    }

    /// Refuses settings that cannot work for these data, before anything is written.
    ///
    /// # Errors
    /// As beginning to train would.
    pub fn check_for(&self, data: &Arc<Dataset>) -> Result<(), LearnError> {
        let setting = self.setting(data.spec(), &crate::cpu());
        sampler(&*self.learner.init(&setting)?, data.clone(), self.batch_size, &setting)?;
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
            Some((field, value, least)) => Err(ConfigError::new(
                field,
                value,
                &format!("must be at least {least}"),
                "leave it out for the default",
            )
            .into()),
            None => Ok(()),
        }
    }
}
