//! Measures whether critics learn which episode a state belongs to.
//!
//! Demonstrations never visit the same state twice, so the exact values of a state identify its
//! episode. A critic that learns this does well on every training metric, and badly between
//! episodes. This study measures the rank correlation of steps to go, to the ends of other
//! demonstrations, over training.

use super::{
    environment::arm::{Arm, CLEAN},
    results::{gpu, to_json},
};
use crate::{StudyError, output_folder::claim};
use isochrone_eval::{
    audit::{AcrossEpisodes, Readings},
    refined::{RefinedConfig, RefinedDistance},
};
use isochrone_learn::{
    Algorithm, ComputeDevice, Preset, Training,
    evaluation::DistanceEvaluation,
    run::{Provenance, write_file},
};
use isochrone_plot::{LineChart, Panel, Series};
use serde::{Deserialize, Serialize};
use std::{
    path::Path,
    sync::{Arc, Mutex},
};

/// The number of evaluations during training.
const EVALUATIONS: u64 = 20;

/// The measurements of one training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeakCurve {
    /// The algorithm.
    pub method: String,
    /// The number of rows in a batch.
    pub batch_size: usize,
    /// The number of rows of a batch from the same episode.
    pub rows_per_episode: usize,
    /// The seed of the training run.
    pub seed: u64,
    /// The GPU that computed the networks; `None` for the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// The gradient updates at each evaluation.
    pub steps: Vec<u64>,
    /// Mean rank correlation of steps to go with the oracle, over held-out clean demonstrations.
    pub steps_to_go: Vec<f64>,
    /// Rank correlation with recorded time, over random pairs of held-out states.
    pub across_episodes: Vec<f64>,
}

/// Settings of the measurement.
#[derive(Debug, Clone)]
pub struct EpisodeLeak {
    /// The algorithms to train.
    pub methods: Vec<Algorithm>,
    /// The number of rows in a batch.
    pub batch_size: usize,
    /// The numbers of rows of a batch from the same episode, one training run for each.
    pub rows_per_episode: Vec<usize>,
    /// The gradient updates of every training run.
    pub updates: u64,
    /// The random seed.
    pub seed: u64,
    /// The device that computes networks.
    pub device: ComputeDevice,
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
    /// Trains and measures; `observe` is called with each curve. Writes `results.json` and
    /// `curves.svg` / `.png`.
    pub fn run(&self, folder: &Path, observe: &dyn Fn(&LeakCurve)) -> Result<Vec<LeakCurve>, StudyError> {
        claim(folder)?;
        let arm = Arc::new(Arm::open(folder)?);
        let (data, held_out) = arm.fold(0)?;
        let recorded = RefinedDistance::fit(&data, &RefinedConfig::default())?;
        let mut curves = Vec::new();
        for &method in &self.methods {
            for &rows_per_episode in &self.rows_per_episode {
                let seen: Arc<Mutex<(Vec<f64>, Vec<f64>)>> = Arc::default();
                let kept = Arc::clone(&seen);
                let test_data = held_out.clone();
                let pairs =
                    AcrossEpisodes::new(&Readings::of_distance(&recorded, &test_data), &recorded, self.seed);
                let demonstrations = Arc::clone(&arm);
                let measure = DistanceEvaluation::new("steps_to_go", move |distance| {
                    let steps_to_go =
                        demonstrations.rank_within(&demonstrations.steps_to_go(distance, 0), CLEAN);
                    let mut kept = kept.lock().expect("no thread panics with it");
                    kept.0.push(steps_to_go);
                    kept.1.push(pairs.rank_correlation(&Readings::of_distance(distance, &test_data)));
                    steps_to_go
                });
                let every = self.updates / EVALUATIONS;
                let training =
                    Training::new(method).preset(Preset::Small).steps(self.updates).seed(self.seed);
                training
                    .device(self.device)
                    .set("batch_size", self.batch_size)
                    .set("metrics.evaluate_every", every)
                    .set("data.rows_per_episode", rows_per_episode)
                    .evaluation(measure)
                    .fit(&data)?;
                let (steps_to_go, across_episodes) = seen.lock().expect("training has finished").clone();
                let curve = LeakCurve {
                    method: method.name().to_owned(),
                    batch_size: self.batch_size,
                    rows_per_episode,
                    seed: self.seed,
                    gpu: gpu(self.device)?,
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
                        "{}, {} of {} rows per episode",
                        curve.method, curve.rows_per_episode, curve.batch_size
                    ),
                    points: curve.steps.iter().map(|&step| step as f64).zip(values(curve)).collect(),
                    ..Series::default()
                })
                .collect(),
            ..Panel::default()
        };
        let chart = LineChart {
            title: "Do critics learn which episode a state belongs to?".into(),
            note: "Demonstrations of a robot arm; rank correlations on held-out demonstrations, one seed."
                .into(),
            x_axis: "gradient updates".into(),
            has_own_x: false,
            panels: vec![
                panel("rank correlation of steps to go with the oracle", &|curve| curve.steps_to_go.clone()),
                panel("rank correlation with recorded time, random pairs", &|curve| {
                    curve.across_episodes.clone()
                }),
            ],
        };
        let figure = chart.draw();
        for file in ["curves.svg", "curves.png"] {
            figure.save(&folder.join(file))?;
        }
        Ok(())
    }
}
