//! One reading of one method in one environment.

use super::{environment::EnvironmentData, exact_pairs::ExactPairs, method::FittedReading, plans::PlanCheck};
use isochrone_core::statistics::median;
use isochrone_data::Dataset;
use isochrone_eval::audit::{Accuracy, Consistency, median_near};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Instant};

/// Exact steps at which median readings are reported.
pub const DISTANCES: [u32; 7] = [1, 3, 10, 30, 100, 300, 1000];
/// The number of pairs stored for figures.
const KEPT_PAIRS: usize = 300;

/// A row of `results.json`. Undefined numbers are `null`: no pair is that far apart, or no reading
/// is finite.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DistanceRow {
    /// The name of the environment.
    pub environment: String,
    /// The name of the method.
    pub method: String,
    /// The name of the reading, such as raw or calibrated.
    pub reading: String,
    /// The seed of the method.
    pub seed: u64,
    /// The gradient updates; 0 if nothing is trained.
    pub updates: u64,
    /// The GPU that computed the networks; `None` for the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// The SHA-256 of the training data.
    pub data_sha256: String,
    /// The number of rows of the data.
    pub rows: u64,
    /// The number of pairs with a path between them.
    pub pairs: usize,
    /// The share of pairs without a finite reading.
    pub unreached: f64,
    /// The Spearman rank correlation with exact steps.
    pub spearman: Option<f64>,
    /// For demonstrations: the mean rank correlation of steps to go within the demonstrations of
    /// each kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spearman_within_episodes: BTreeMap<String, f64>,
    /// The median of |reading - exact| / exact.
    pub median_relative_error: Option<f64>,
    /// The share of readings within 25 % of the exact steps.
    pub within_25_percent: f64,
    /// The median of reading / exact.
    pub median_ratio: Option<f64>,
    /// The median reading at 1, 3, 10, 30, 100, 300 and 1000 exact steps.
    pub at_steps: Vec<Option<f64>>,
    /// The median reading one step ahead.
    pub one_ahead: Option<f64>,
    /// The median reading one step behind and the exact steps, in environments where going back
    /// takes long.
    pub one_behind: Option<(f64, f64)>,
    /// The largest reading from a state to itself.
    pub largest_self_distance: f64,
    /// The share of triples that violate the triangle inequality.
    pub triangle_violations: f64,
    /// The largest violation in steps.
    pub worst_triangle: Option<f64>,
    /// The share of held-out recorded pairs whose reading exceeds the recorded time.
    pub above_recorded_lag: f64,
    /// The share of random pairs whose reading implies a speed above the largest recorded one.
    pub below_speed_limit: f64,
    /// The seconds to fit all readings of the method.
    pub fit_seconds: f64,
    /// The seconds to read all pairs.
    pub query_seconds: f64,
    /// The check of random plans, for distances that plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<PlanCheck>,
    /// A sample of pairs: exact steps and readings.
    pub sample: Vec<(f64, f64)>,
}

/// Consistency checks of a distance, and its reading of one recorded step.
pub struct Checked {
    consistency: Consistency,
    one_ahead: f64,
}

impl Checked {
    /// Checks a reading on held-out episodes.
    pub fn of(fitted: &FittedReading, held_out: &Dataset, seed: u64) -> Self {
        let consistency = Consistency::of(&*fitted.distance, held_out, seed);
        Self { one_ahead: consistency.one_step, consistency }
    }
}

impl DistanceRow {
    /// Measures a reading; `about` has the other fields of the row.
    pub fn measure(fitted: &FittedReading, environment: &EnvironmentData, seed: u64, about: Self) -> Self {
        let start = Instant::now();
        let readings = fitted.steps(&environment.pairs, environment);
        let query_seconds = start.elapsed().as_secs_f64();
        let paired = |pairs: &ExactPairs| {
            median(fitted.distance.paired_steps(&pairs.from, &pairs.to).expect("they are full states"))
        };
        let checked = Checked {
            one_ahead: paired(&environment.ahead),
            ..Checked::of(fitted, &environment.held_out, seed)
        };
        Self {
            reading: fitted.name.to_owned(),
            one_behind: finite(paired(&environment.behind))
                .map(|reading| (reading, environment.behind.steps[0])),
            query_seconds,
            plans: fitted.refined().map(|refined| PlanCheck::of(refined, environment)),
            ..about
        }
        .with_accuracy(&readings, &environment.pairs.steps)
        .with_checks(checked)
    }

    /// Adds the agreement of readings with exact steps.
    pub fn with_accuracy(self, readings: &[f64], truth: &[f64]) -> Self {
        let accuracy = Accuracy::of(readings, truth);
        let pairs = truth.iter().copied().zip(readings.iter().copied());
        let sample: Vec<(f64, f64)> =
            pairs.filter(|(exact, reading)| exact.is_finite() && reading.is_finite()).collect();
        let apart = (sample.len() / KEPT_PAIRS).max(1);
        Self {
            pairs: accuracy.pairs,
            unreached: accuracy.unreached,
            spearman: finite(accuracy.spearman),
            median_relative_error: finite(accuracy.median_relative_error),
            within_25_percent: accuracy.within_25_percent,
            median_ratio: finite(accuracy.median_ratio),
            at_steps: DISTANCES
                .map(|steps| median_near(readings, truth, f64::from(steps)).and_then(finite))
                .into(),
            sample: sample.into_iter().step_by(apart).take(KEPT_PAIRS).collect(),
            ..self
        }
    }

    /// Adds the consistency checks.
    pub fn with_checks(self, Checked { consistency, one_ahead }: Checked) -> Self {
        Self {
            one_ahead: finite(one_ahead),
            largest_self_distance: consistency.largest_self_distance,
            triangle_violations: consistency.triangle_violations,
            worst_triangle: finite(consistency.worst_triangle),
            above_recorded_lag: consistency.above_recorded_lag,
            below_speed_limit: consistency.below_speed_limit,
            ..self
        }
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
