//! What the study does, as a data file.

use crate::training::{Logs, configured, integer, methods_of};
use isochrone_envs::DatasetId;
use isochrone_eval::rollout::LAST_THREE;
use isochrone_learn::{algos::Algorithm, error::LearnError, run::RunConfig};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Table;

/// Which mazes are studied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The ball: every method, three data sets.
    Point,
    /// The ant: one run, and what it can do as it learns.
    Ant,
}

/// The recipe of a study; what each number means is said in `point.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the file says it")]
pub struct Recipe {
    pub title: String,
    pub command: String,
    pub about: String,
    pub seeds: u64,
    pub data_seed: u64,
    pub batch_size: usize,
    pub episodes: u64,
    pub earlier_episodes: u64,
    pub checkpoints: usize,
    pub planned: Planned,
    pub graph_states: usize,
    pub horizon_steps: f64,
    pub is_reversible: bool,
    /// The share of the usual number of recordings.
    #[serde(default = "all")]
    pub recordings: f64,
    quick: Quick,
    /// Published success by method, in per cent.
    pub data_sets: BTreeMap<String, BTreeMap<String, f64>>,
    settings: Table,
    methods: BTreeMap<String, Method>,
}

fn all() -> f64 {
    1.0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quick {
    seeds: u64,
    share: f64,
    recordings: f64,
    episodes: u64,
    checkpoints: usize,
}

/// What is judged with a plan above the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the file says it")]
pub struct Planned {
    pub checkpoints: usize,
    pub episodes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    steps: u64,
    planned: Option<Planned>,
    #[serde(default)]
    settings: Table,
}

impl Recipe {
    /// A study, or its quick version.
    pub fn new(which: Which, is_quick: bool) -> Self {
        let text = match which {
            Which::Point => include_str!("point.toml"),
            Which::Ant => include_str!("ant.toml"),
        };
        let mut recipe: Self = toml::from_str(text).expect("the file is part of the program");
        if is_quick {
            let Quick { seeds, share, recordings, episodes, checkpoints } = recipe.quick;
            (recipe.seeds, recipe.recordings, recipe.checkpoints) = (seeds, recordings, checkpoints);
            (recipe.episodes, recipe.earlier_episodes) = (episodes, episodes);
            for method in recipe.methods.values_mut() {
                method.steps = (method.steps as f64 * share) as u64;
                method.planned = None;
            }
            recipe.planned = Planned { checkpoints: 1, episodes };
        }
        recipe
    }

    /// What is learned from, in the order of names.
    pub fn datasets(&self) -> Vec<DatasetId> {
        self.data_sets
            .keys()
            .map(|name| DatasetId::from_name(name).expect("a dataset of the registry"))
            .collect()
    }

    /// Episodes of a data set.
    pub fn episodes_of(&self, dataset: DatasetId) -> usize {
        (dataset.policy().default_episodes as f64 * self.recordings) as usize
    }

    /// What is compared, in the order of tables.
    pub fn methods(&self) -> Vec<Algorithm> {
        methods_of(|name| self.methods.contains_key(name))
    }

    /// Updates of a method.
    pub fn steps(&self, algorithm: Algorithm) -> u64 {
        self.methods[algorithm.name()].steps
    }

    /// What of a method is judged with a plan.
    pub fn planned(&self, algorithm: Algorithm) -> Planned {
        self.methods[algorithm.name()].planned.unwrap_or(self.planned)
    }

    /// Episodes of each task at a checkpoint that so many follow, of those that are usual for it.
    pub fn episodes_before(&self, later: usize, usual: u64) -> u64 {
        if later < LAST_THREE { usual } else { usual.min(self.earlier_episodes) }
    }

    /// The whole configuration of a run.
    pub(super) fn config(
        &self,
        algorithm: Algorithm,
        seed: u64,
        logs: Logs<'_>,
    ) -> Result<RunConfig, LearnError> {
        let method = &self.methods[algorithm.name()];
        let decided = vec![
            ("steps".to_owned(), integer(method.steps)),
            ("seed".to_owned(), integer(seed)),
            ("batch_size".to_owned(), integer(self.batch_size as u64)),
            ("metrics.every".to_owned(), integer((method.steps / 100).max(1))),
            ("metrics.evaluate_every".to_owned(), integer(0)),
            ("checkpoints.every".to_owned(), integer((method.steps / 10).max(1))),
            ("checkpoints.keep_last".to_owned(), integer(self.checkpoints as u64)),
        ];
        configured(algorithm, &self.settings, &method.settings, decided, logs)
    }
}
