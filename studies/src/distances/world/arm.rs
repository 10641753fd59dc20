//! An arm that puts a cube into one of two bins, demonstrated by people of different pace, some of whom fail: `assets/arm.npz`.
//!
//! What is read are the steps to go of every frame: to the ends of *other* demonstrations of its task, as a quantile over them,
//! because some ends are no success. Episodes are never in the data that their own distance is fitted to. The truth is an oracle
//! of the simulator: frames left at nominal speed, from any state.

use crate::{
    StudyError,
    distances::{
        method::{DistanceMethod, FittedReading},
        row::{Checked, DistanceRow},
    },
};
use isochrone_core::statistics::spearman;
use isochrone_data::{Dataset, Spec, formats::ReadOptions};
use isochrone_learn::run::write_file;
use std::{collections::BTreeMap, path::Path, time::Instant};

/// Its name in results.
pub const NAME: &str = "arm";
const FILE: &[u8] = include_bytes!("../../../assets/arm.npz");
const FOLDS: usize = 5;
/// Quantile over ends of demonstrations.
const QUANTILE: f64 = 0.25;
/// Stands for a reading that is not finite.
const UNREACHED_STEPS: f64 = 1e4;

/// Codes of the column `defect`: what is wrong with a demonstration.
const CLEAN: f32 = 1.0;
const DROPPED: f32 = 6.0;
const MISSED: f32 = 7.0;

/// A demonstration with what is known about it.
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
    /// Reads the file, by way of a copy in `folder`.
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

    /// Measures a method. The first fold serves for everything that is not about steps to go.
    pub fn measure(
        &self,
        method: DistanceMethod,
        updates: u64,
        seed: u64,
    ) -> Result<Vec<DistanceRow>, StudyError> {
        let demonstrations = &self.demonstrations;
        let mut readings: BTreeMap<&'static str, Readings> = BTreeMap::new();
        let (mut fit_seconds, mut query_seconds) = (0.0, 0.0);
        for fold in 0..FOLDS {
            let is_test = |number: &usize| number % FOLDS == fold;
            let dataset = |wanted: &dyn Fn(&usize) -> bool| {
                let chosen = demonstrations.iter().enumerate().filter(|(number, _)| wanted(number));
                let arrays = chosen.map(|(_, one)| (one.observations.clone(), one.actions.clone()));
                Dataset::from_arrays(self.observation_width, self.action_width, arrays)
            };
            let (data, held_out) = (dataset(&|number| !is_test(number))?, dataset(&is_test)?);
            let start = Instant::now();
            let fitted = method.fit(&data, None, updates, seed)?;
            fit_seconds += start.elapsed().as_secs_f64();
            let start = Instant::now();
            for fitted in fitted {
                let to_go = readings.entry(fitted.name).or_insert_with(|| Readings {
                    steps: vec![Vec::new(); demonstrations.len()],
                    checked: Checked::of(&fitted, &held_out, seed),
                });
                for (number, one) in demonstrations.iter().enumerate().filter(|(number, _)| is_test(number)) {
                    let goals = demonstrations.iter().enumerate().filter(|(other, goal)| {
                        !is_test(other) && goal.task == one.task && goal.labeled_success
                    });
                    let width = self.observation_width;
                    let ends: Vec<f32> = goals
                        .flat_map(|(_, goal)| &goal.observations[goal.observations.len() - width..])
                        .copied()
                        .collect();
                    to_go.steps[number] = steps_to_go(&fitted, &one.observations, &ends, width);
                }
            }
            query_seconds += start.elapsed().as_secs_f64();
        }
        let row = |(name, readings): (&str, Readings)| {
            let about = DistanceRow {
                environment: NAME.to_owned(),
                method: method.name().to_owned(),
                reading: name.to_owned(),
                seed,
                updates,
                data_sha256: self.content_hash.clone(),
                rows: demonstrations.iter().map(|one| one.oracle_steps.len() as u64).sum(),
                fit_seconds,
                query_seconds,
                ..DistanceRow::default()
            };
            let (steps, truth) =
                (readings.steps.concat(), demonstrations.iter().flat_map(|one| &one.oracle_steps));
            let row = about.with_accuracy(&steps, &truth.copied().collect::<Vec<_>>());
            DistanceRow { spearman_within_episodes: within_episodes(demonstrations, &readings.steps), ..row }
                .with_checks(readings.checked)
        };
        Ok(readings.into_iter().map(row).collect())
    }
}

/// The readings of all demonstrations, and what was found on the first fold.
struct Readings {
    steps: Vec<Vec<f64>>,
    checked: Checked,
}

/// For every frame, the quantile over goals of the steps to them.
fn steps_to_go(fitted: &FittedReading, frames: &[f32], ends: &[f32], width: usize) -> Vec<f64> {
    let steps = fitted.distance.all_pairs_steps(frames, ends).expect("they are whole states");
    let quantile = |steps: &[f64]| {
        let mut steps: Vec<f64> = steps.iter().map(|steps| steps.min(UNREACHED_STEPS)).collect();
        steps.sort_unstable_by(f64::total_cmp);
        let place = QUANTILE * (steps.len() - 1) as f64;
        let (below, share) = (place as usize, place.fract());
        steps[below] + share * (steps[(below + 1).min(steps.len() - 1)] - steps[below])
    };
    steps.chunks_exact(ends.len() / width).map(quantile).collect()
}

/// Mean over demonstrations of a kind of the rank correlation with the oracle.
fn within_episodes(demonstrations: &[Demonstration], steps: &[Vec<f64>]) -> BTreeMap<String, f64> {
    let mean = |defects: &[f32]| {
        let chosen = demonstrations.iter().zip(steps).filter(|(one, _)| defects.contains(&one.defect));
        let found: Vec<f64> = chosen.map(|(one, steps)| spearman(steps, &one.oracle_steps)).collect();
        found.iter().sum::<f64>() / found.len() as f64
    };
    let kinds = [
        ("clean", [CLEAN].as_slice()),
        ("dropped cube, labeled success", &[DROPPED]),
        ("missed grasp, labeled success", &[MISSED]),
    ];
    kinds.into_iter().map(|(name, defects)| (name.to_owned(), mean(defects))).collect()
}
