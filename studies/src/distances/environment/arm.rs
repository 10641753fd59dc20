//! A robot arm that puts a cube into one of two bins, demonstrated by scripted operators of
//! different pace, some of whom fail:
//! `assets/arm.npz`.
//!
//! The readings are the steps to go of every frame: to the ends of *other* demonstrations of its
//! task, as a quantile over them, because some ends are not successes. An episode is never in the
//! data that its own distance is fitted to. The exact value is that of an oracle of the simulator:
//! the remaining frames at nominal speed, from any state.

use crate::StudyError;
use isochrone_core::{
    TemporalDistance,
    statistics::{quantile, spearman},
};
use isochrone_data::{Dataset, Spec, formats::ReadOptions};
use isochrone_learn::run::write_file;
use std::path::Path;

/// The name in results.
pub const NAME: &str = "arm";
const FILE: &[u8] = include_bytes!("../../../assets/arm.npz");
/// The number of folds of the demonstrations, each of which is read by a distance that was fitted
/// to the others.
pub const FOLDS: usize = 5;
/// The quantile over ends of demonstrations.
const QUANTILE: f64 = 0.25;
/// Replaces a reading that is not finite.
pub const UNREACHED_STEPS: f64 = 1e4;

/// The code of a demonstration without a defect in the column `defect`.
pub const CLEAN: f32 = 1.0;
/// Kinds of demonstrations in results, with their codes in the column `defect`.
pub const KINDS: [(&str, f32); 3] =
    [("clean", CLEAN), ("dropped cube, labeled success", 6.0), ("missed grasp, labeled success", 7.0)];

/// A demonstration with its labels.
struct Demonstration {
    observations: Vec<f32>,
    actions: Vec<f32>,
    oracle_steps: Vec<f64>,
    task: usize,
    labeled_success: bool,
    defect: f32,
}

/// All demonstrations.
pub struct Arm {
    observation_width: usize,
    action_width: usize,
    content_hash: String,
    demonstrations: Vec<Demonstration>,
}

impl Arm {
    /// Writes the file to `folder` and reads it.
    pub fn open(folder: &Path) -> Result<Self, StudyError> {
        let path = folder.join("datasets").join("arm.npz");
        let parent = path.parent().expect("a file of the folder");
        std::fs::create_dir_all(parent).map_err(StudyError::io(parent))?;
        write_file(&path, FILE)?;
        let data = Dataset::load(&path, ReadOptions::default())?;
        let Spec { observation, action, extras, .. } = data.spec();
        let demonstration = |number: usize| {
            let episode = data.episode(number);
            let column = |name: &str| {
                let place = extras.iter().position(|extra| extra.name == name).expect("a column of the file");
                episode.extras[place]
            };
            Demonstration {
                observations: episode.observations.to_vec(),
                actions: episode.actions.to_vec(),
                oracle_steps: column("oracle_steps").iter().map(|steps| f64::from(*steps)).collect(),
                task: column("task")[0] as usize,
                labeled_success: column("labeled_success")[0] == 1.0,
                defect: column("defect")[0],
            }
        };
        Ok(Self {
            observation_width: observation.width,
            action_width: action.width,
            content_hash: data.content_hash().to_owned(),
            demonstrations: (0..data.n_episodes()).map(demonstration).collect(),
        })
    }

    /// Returns the number of demonstrations.
    pub fn n_demonstrations(&self) -> usize {
        self.demonstrations.len()
    }

    /// Returns the oracle's steps of all frames, one demonstration after another.
    pub fn oracle_steps(&self) -> Vec<f64> {
        self.demonstrations.iter().flat_map(|one| &one.oracle_steps).copied().collect()
    }

    /// Returns the SHA-256 of the file's contents.
    pub fn content_hash(&self) -> &str {
        &self.content_hash
    }

    /// Returns the demonstrations of all folds but one, and those of that fold.
    pub fn fold(&self, fold: usize) -> Result<(Dataset, Dataset), StudyError> {
        let dataset = |is_test: bool| {
            let chosen = (0..self.demonstrations.len()).filter(|number| (number % FOLDS == fold) == is_test);
            let arrays = chosen.map(|number| {
                let one = &self.demonstrations[number];
                (one.observations.clone(), one.actions.clone())
            });
            Dataset::from_arrays(self.observation_width, self.action_width, arrays)
        };
        Ok((dataset(false)?, dataset(true)?))
    }

    /// Returns the steps to go of the demonstrations of a fold, by a distance that was fitted to
    /// the others; empty for the other demonstrations.
    pub fn steps_to_go(&self, distance: &dyn TemporalDistance, fold: usize) -> Vec<Vec<f64>> {
        let (all, width) = (&self.demonstrations, self.observation_width);
        let of_one = |number: usize| {
            if number % FOLDS != fold {
                return Vec::new();
            }
            let is_goal = |(other, goal): &(usize, &Demonstration)| {
                other % FOLDS != fold && goal.task == all[number].task && goal.labeled_success
            };
            let goals = all.iter().enumerate().filter(is_goal);
            let ends = goals.flat_map(|(_, goal)| &goal.observations[goal.observations.len() - width..]);
            let ends: Vec<f32> = ends.copied().collect();
            let steps =
                distance.all_pairs_steps(&all[number].observations, &ends).expect("they are full states");
            let to_go = |steps: &[f64]| {
                quantile(steps.iter().map(|steps| steps.min(UNREACHED_STEPS)).collect(), QUANTILE)
            };
            steps.chunks_exact(ends.len() / width).map(to_go).collect()
        };
        (0..all.len()).map(of_one).collect()
    }

    /// Returns the mean rank correlation with the oracle over the demonstrations of a kind that
    /// have readings.
    pub fn rank_within(&self, steps_to_go: &[Vec<f64>], defect: f32) -> f64 {
        let read = self
            .demonstrations
            .iter()
            .zip(steps_to_go)
            .filter(|(one, steps)| one.defect == defect && !steps.is_empty());
        let found: Vec<f64> = read.map(|(one, steps)| spearman(steps, &one.oracle_steps)).collect();
        found.iter().sum::<f64>() / found.len() as f64
    }
}
