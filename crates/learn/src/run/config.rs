//! What a run is told, completed from the data.

use super::overrides;
use crate::{
    algos::{Algorithm, AlgorithmConfig},
    error::{ConfigError, LearnError},
    parts::Size,
    scaling::ScalingConfig,
};
use isochrone_core::Discount;
use isochrone_data::{EpisodeIndex, formats::ReadOptions};
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

/// What the user says, from weak to strong: defaults for the data, a file, overrides.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Contents of a configuration file, and where it is.
    pub file: Option<(PathBuf, Table)>,
    /// Dotted names and values, in order.
    pub overrides: Vec<(String, Value)>,
    /// The algorithm, whatever the others say.
    pub algorithm: Option<Algorithm>,
    /// How large networks are unless said otherwise.
    pub size: Size,
}

impl Wishes {
    /// A setting by its dotted name, wherever it is said: where to look for the data, before anything can be completed.
    pub fn get(&self, name: &str) -> Option<Value> {
        let said = self.overrides.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        said.or_else(|| overrides::get(&self.file.as_ref()?.1, name).cloned())
    }

    /// The whole configuration for data with these episodes.
    ///
    /// # Errors
    /// If a setting is unknown, has the wrong type or an impossible value; the error has its dotted name.
    pub fn resolve(&self, data: DataConfig, index: &EpisodeIndex) -> Result<RunConfig, LearnError> {
        let algorithm = self.algorithm()?;
        let steps = match self.get("steps").and_then(|value| value.as_integer()) {
            Some(steps) => u64::try_from(steps).unwrap_or(0),
            None => 50_000,
        };
        let defaults = RunConfig::for_data(algorithm.preset(self.size), data, steps, index);
        let mut table = Table::try_from(&defaults).expect("configurations are tables");
        if let Some((_, file)) = &self.file {
            overrides::merge(&mut table, file);
        }
        for (name, value) in &self.overrides {
            overrides::set(&mut table, name, value.clone());
        }
        if let Some(algorithm) = self.algorithm {
            // The name of an algorithm may say more than its tag: crl-cpc.
            overrides::merge_missing(&mut table, algorithm, self.size);
        }
        let config = overrides::read::<RunConfig>(table).map_err(|error| self.blame(error, &defaults))?;
        config.check()?;
        Ok(config)
    }

    fn algorithm(&self) -> Result<Algorithm, LearnError> {
        if let Some(algorithm) = self.algorithm {
            return Ok(algorithm);
        }
        let Some(name) = self.get("learner.algorithm") else { return Ok(Algorithm::Cmd1) };
        let name = name.as_str().unwrap_or_default().to_owned();
        // The tag of both kinds of contrastive learning; which, the setting learner.loss says.
        let known = |algorithm: &Algorithm| {
            algorithm.name() == name || (name == "crl" && *algorithm == Algorithm::CrlNce)
        };
        Algorithm::ALL.into_iter().find(known).ok_or_else(|| {
            let names: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
            ConfigError::new(
                "learner.algorithm",
                name,
                "is not an algorithm",
                format!("one of {}", names.join(", ")),
            )
            .into()
        })
    }

    /// An error of the whole as one of the setting that causes it, found by trying each alone; and of the file, if it is from there.
    fn blame(&self, error: ConfigError, defaults: &RunConfig) -> LearnError {
        let defaults = Table::try_from(defaults).expect("configurations are tables");
        let said = self
            .file
            .iter()
            .flat_map(|(_, file)| overrides::leaves(file))
            .chain(self.overrides.iter().cloned());
        let mut alone = said.filter_map(|(name, value)| {
            let mut table = defaults.clone();
            overrides::set(&mut table, &name, value.clone());
            let error = overrides::read::<RunConfig>(table).err()?;
            Some(ConfigError { field: name, value: value.to_string(), ..error })
        });
        let error = alone.next().unwrap_or(error);
        let is_overridden = self.overrides.iter().any(|(name, _)| *name == error.field);
        match &self.file {
            Some((path, file)) if !is_overridden && overrides::get(file, &error.field).is_some() => {
                LearnError::malformed(
                    path,
                    format!("{} = {}: {}", error.field, error.value, error.problem),
                    error.hint,
                )
            }
            _ => error.into(),
        }
    }
}

impl RunConfig {
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
                evaluate_every: (steps / 20).max(1),
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
