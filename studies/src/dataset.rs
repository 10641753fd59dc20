//! The datasets of a study: collected once, then loaded.

use crate::{
    error::StudyError,
    recipe::Recipe,
    reference::{self, Reference},
};
use isochrone_core::EnvFactory;
use isochrone_data::{Dataset, DatasetBuilder, ProgressSink, formats::Writer};
use isochrone_envs::{DatasetId, EnvId};
use isochrone_eval::{
    chance::{ChanceConfig, ChanceModel},
    refined::{RefinedConfig, RefinedDistance},
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// The number of episodes that are collected again to validate a file.
const COLLECTED_AGAIN: usize = 3;

/// A dataset that is being collected.
#[derive(Debug, Clone, Copy)]
pub struct Collecting<'a> {
    /// Its name.
    pub dataset: &'a str,
    /// The number of its episodes.
    pub episodes: usize,
    /// The number of those that were collected.
    pub done: usize,
}

/// A dataset, the environment in which policies are evaluated, and its references.
pub struct StudyDataset {
    /// The file.
    pub path: PathBuf,
    pub data: Arc<Dataset>,
    pub env: EnvId,
    pub factory: EnvFactory,
    pub reference: Box<dyn Reference>,
    refined: OnceLock<RefinedDistance>,
    /// With all moves, and with recorded ones only.
    chance: [OnceLock<Arc<ChanceModel>>; 2],
}

/// The path of a dataset in the folder of a study.
pub fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join("datasets").join(format!("{name}.arrow"))
}

impl StudyDataset {
    /// Collects a dataset, or loads it if it was collected before. `observe` is called for every
    /// episode that is collected.
    pub fn open(
        folder: &Path,
        name: &str,
        recipe: &Recipe,
        observe: &dyn Fn(Collecting<'_>),
    ) -> Result<Self, StudyError> {
        let id = DatasetId::from_name(name).expect("recipes are checked when they are read");
        // Before anything is collected.
        id.env().check()?;
        let episodes = (id.policy().default_episodes as f64 * recipe.data_share) as usize;
        let path = path(folder, name);
        if !path.exists() {
            let parent = path.parent().expect("a file of the folder");
            std::fs::create_dir_all(parent).map_err(StudyError::io(parent))?;
            let mut writer = Writer::for_path(&path)?;
            let mut done = 0;
            let mut progress = |_| {
                done += 1;
                observe(Collecting { dataset: name, episodes, done });
            };
            let mut sink = ProgressSink { sink: &mut writer, progress: &mut progress };
            id.collect(episodes, recipe.data_seed, &mut sink)?;
            writer.finish()?;
        }
        let dataset = Self::load(folder, name, recipe)?;
        // The first episodes are collected again, to detect another seed, program or physics
        // library.
        let mut again = DatasetBuilder::default();
        id.collect(COLLECTED_AGAIN.min(episodes), recipe.data_seed, &mut again)?;
        let again = again.finish();
        let is_same = |episode: usize| {
            let (stored, expected) = (dataset.data.episode(episode), again.episode(episode));
            stored.observations == expected.observations && stored.actions == expected.actions
        };
        if dataset.data.n_episodes() != episodes || !(0..again.n_episodes()).all(is_same) {
            let problem = format!("the file does not contain the {episodes} episodes of this study");
            let hint = "choose another folder for the study, or remove the file";
            return Err(StudyError::Invalid { path, problem, hint });
        }
        Ok(dataset)
    }

    /// Loads a dataset that was collected before.
    pub fn load(folder: &Path, name: &str, recipe: &Recipe) -> Result<Self, StudyError> {
        let env = DatasetId::from_name(name).expect("recipes are checked when they are read").env();
        let path = path(folder, name);
        Ok(Self {
            data: Arc::new(Dataset::load(&path, recipe.read_options())?),
            path,
            env,
            factory: env.make()?,
            reference: reference::of(env, recipe),
            refined: OnceLock::new(),
            chance: [OnceLock::new(), OnceLock::new()],
        })
    }

    /// Returns the refined distance of the data, fitted on the first call.
    pub fn refined(&self) -> Result<&RefinedDistance, StudyError> {
        if let Some(refined) = self.refined.get() {
            return Ok(refined);
        }
        let fitted = RefinedDistance::fit(&self.data, &RefinedConfig::default())?;
        // Two threads may fit it at the same time, with the same result.
        Ok(self.refined.get_or_init(|| fitted))
    }

    /// Returns the model of the stochastic planner, fitted on the first call.
    pub fn chance(&self, recorded_only: bool) -> Result<Arc<ChanceModel>, StudyError> {
        let known = &self.chance[usize::from(recorded_only)];
        if let Some(model) = known.get() {
            return Ok(Arc::clone(model));
        }
        let config = ChanceConfig { recorded_only, ..ChanceConfig::default() };
        let fitted = Arc::new(ChanceModel::fit(&self.data, &config)?);
        // Two threads may fit it at the same time, with the same result.
        Ok(Arc::clone(known.get_or_init(|| fitted)))
    }
}
