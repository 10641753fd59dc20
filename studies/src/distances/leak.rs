//! Do learners learn which episode a state belongs to?
//!
//! Demonstrations never pass through the same state twice, so the exact numbers of a state tell its episode. A critic that learns
//! this does well at everything that training looks at, and badly between episodes. Here the rank correlation of steps to go, to
//! the ends of other demonstrations, is followed over a training.

use super::{
    environment::arm::{Arm, CLEAN},
    results::to_json,
};
use crate::StudyError;
use isochrone_eval::{
    audit::{AcrossEpisodes, Readings},
    refined::{RefinedConfig, RefinedDistance},
};
use isochrone_learn::{
    Algorithm, Preset, Training,
    evaluation::DistanceEvaluation,
    run::{Provenance, write_file},
};
use isochrone_plot::{LineChart, Panel, Series};
use serde::{Deserialize, Serialize};
use std::{
    path::Path,
    sync::{Arc, Mutex},
};

/// Evaluations of a training.
const EVALUATIONS: u64 = 20;

/// A training that was followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeakCurve {
    /// The algorithm.
    pub method: String,
    /// Rows of a batch.
    pub batch_size: usize,
    /// Rows of a batch that are of the same episode.
    pub rows_per_episode: usize,
    /// Seed of the training.
    pub seed: u64,
    /// Updates.
    pub steps: Vec<u64>,
    /// Mean rank correlation of steps to go with the oracle, over clean demonstrations that were not learned from.
    pub steps_to_go: Vec<f64>,
    /// Rank correlation with recorded time, over random pairs of states that were not learned from.
    pub across_episodes: Vec<f64>,
}

/// Settings of the measurement.
#[derive(Debug, Clone)]
pub struct EpisodeLeak {
    /// The algorithms.
    pub methods: Vec<Algorithm>,
    /// Rows of a batch.
    pub batch_size: usize,
    /// Rows of a batch that are of the same episode, one training for each.
    pub rows_per_episode: Vec<usize>,
    /// Updates of every training.
    pub updates: u64,
    /// Seed of everything.
    pub seed: u64,
}

/// The file `results.json`.
#[derive(Serialize)]
struct LeakResults<'a> {
    version: String,
    revision: Option<String>,
    platform: String,
    data_sha256: &'a str,
    curves: &'a [LeakCurve],
}

impl EpisodeLeak {
    /// Trains and measures; `observe` sees each curve. Writes `results.json` and `curves.svg` / `.png`.
    pub fn run(&self, folder: &Path, observe: &dyn Fn(&LeakCurve)) -> Result<Vec<LeakCurve>, StudyError> {
        let arm = Arc::new(Arm::open(folder)?);
        let (data, held_out) = arm.fold(0)?;
        let recorded = RefinedDistance::fit(&data, &RefinedConfig::default())?;
        let mut curves = Vec::new();
        for &method in &self.methods {
            for &rows_per_episode in &self.rows_per_episode {
                let seen: Arc<Mutex<(Vec<f64>, Vec<f64>)>> = Arc::default();
                let kept = Arc::clone(&seen);
                let judged = held_out.clone();
                let pairs =
                    AcrossEpisodes::new(&Readings::of_distance(&recorded, &judged), &recorded, self.seed);
                let demonstrations = Arc::clone(&arm);
                let measure = DistanceEvaluation::new("steps_to_go", move |distance| {
                    let steps_to_go =
                        demonstrations.rank_within(&demonstrations.steps_to_go(distance, 0), CLEAN);
                    let mut kept = kept.lock().expect("nobody else holds it");
                    kept.0.push(steps_to_go);
                    kept.1.push(pairs.rank_correlation(&Readings::of_distance(distance, &judged)));
                    steps_to_go
                });
                let every = self.updates / EVALUATIONS;
                let training =
                    Training::new(method).preset(Preset::Small).steps(self.updates).seed(self.seed);
                training
                    .set("batch_size", self.batch_size)
                    .set("metrics.evaluate_every", every)
                    .set("data.rows_per_episode", rows_per_episode)
                    .evaluation(measure)
                    .fit(&data)?;
                let (steps_to_go, across_episodes) = seen.lock().expect("training is over").clone();
                let curve = LeakCurve {
                    method: method.name().to_owned(),
                    batch_size: self.batch_size,
                    rows_per_episode,
                    seed: self.seed,
                    steps: (1..=steps_to_go.len() as u64).map(|number| number * every).collect(),
                    steps_to_go,
                    across_episodes,
                };
                observe(&curve);
                curves.push(curve);
                self.write(folder, arm.content_hash(), &curves)?;
            }
        }
        Ok(curves)
    }

    fn write(&self, folder: &Path, data_sha256: &str, curves: &[LeakCurve]) -> Result<(), StudyError> {
        let Provenance { isochrone, git_revision, platform, .. } = Provenance::now();
        let results =
            LeakResults { version: isochrone, revision: git_revision, platform, data_sha256, curves };
        write_file(&folder.join("results.json"), &to_json(&results))?;
        let panel = |title: &str, values: &dyn Fn(&LeakCurve) -> Vec<f64>| Panel {
            title: title.to_owned(),
            series: curves
                .iter()
                .map(|curve| Series {
                    name: format!(
                        "{}, {} of {} of an episode",
                        curve.method, curve.rows_per_episode, curve.batch_size
                    ),
                    points: curve.steps.iter().map(|&step| step as f64).zip(values(curve)).collect(),
                    ..Series::default()
                })
                .collect(),
        };
        let chart = LineChart {
            title: "Do learners learn which episode a state belongs to?".into(),
            note: "demonstrations of an arm; rank correlations on demonstrations that were not learned from"
                .into(),
            x_axis: "updates".into(),
            panels: vec![
                panel("steps to go, beside the oracle", &|curve| curve.steps_to_go.clone()),
                panel("random pairs, beside recorded time", &|curve| curve.across_episodes.clone()),
            ],
        };
        let figure = chart.draw();
        for file in ["curves.svg", "curves.png"] {
            figure.save(&folder.join(file))?;
        }
        Ok(())
    }
}
