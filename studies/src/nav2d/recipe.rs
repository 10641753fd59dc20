//! What the study does, as a data file.

use crate::training::{Logs, configured, integer, methods_of};
use isochrone_data::Dataset;
use isochrone_learn::{algos::Algorithm, error::LearnError, run::RunConfig};
use serde::{Deserialize, Serialize};
use std::{path::Path, sync::Arc};
use toml::{Table, Value};

/// The recipe of the study; what each number means is said in `recipe.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the file says it")]
pub struct Recipe {
    pub seeds: u64,
    pub data_seed: u64,
    pub episodes: usize,
    pub steps: u64,
    pub batch_size: usize,
    pub discount: f64,
    pub rollouts: u64,
    pub rollouts_in_training: u64,
    pub moves: usize,
    pub graph_states: usize,
    pub radius: f64,
    pub horizon_steps: f64,
    quick: Quick,
    settings: Table,
    methods: Table,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quick {
    seeds: u64,
    steps: u64,
    rollouts: u64,
}

impl Recipe {
    const TEXT: &str = include_str!("recipe.toml");

    /// The study, or its quick version.
    pub fn new(is_quick: bool) -> Self {
        let mut recipe: Self = toml::from_str(Self::TEXT).expect("the file is part of the program");
        if is_quick {
            let Quick { seeds, steps, rollouts } = recipe.quick;
            (recipe.seeds, recipe.steps, recipe.rollouts) = (seeds, steps, rollouts);
        }
        recipe
    }

    /// What is compared, in the order of tables.
    pub fn methods(&self) -> Vec<Algorithm> {
        methods_of(|name| self.methods.contains_key(name))
    }

    /// The whole configuration of a run.
    ///
    /// # Errors
    /// If a setting is impossible.
    pub fn config(
        &self,
        algorithm: Algorithm,
        seed: u64,
        path: &Path,
        data: &Arc<Dataset>,
    ) -> Result<RunConfig, LearnError> {
        let own = self.methods[algorithm.name()].as_table().cloned().unwrap_or_default();
        let decided = vec![
            ("steps".to_owned(), integer(self.steps)),
            ("seed".to_owned(), integer(seed)),
            ("batch_size".to_owned(), integer(self.batch_size as u64)),
            ("discount".to_owned(), Value::Float(self.discount)),
            ("metrics.every".to_owned(), integer((self.steps / 100).max(1))),
            ("metrics.evaluate_every".to_owned(), integer((self.steps / 10).max(1))),
            ("checkpoints.every".to_owned(), integer((self.steps / 4).max(1))),
            ("checkpoints.keep_last".to_owned(), integer(1)),
        ];
        configured(algorithm, &self.settings, &own, decided, Logs { path, data })
    }
}
