//! One reading of one method in one environment.

use super::{environment::EnvironmentData, exact_pairs::ExactPairs, method::FittedReading, plans::PlanCheck};
use isochrone_core::statistics::median;
use isochrone_data::Dataset;
use isochrone_eval::audit::{Accuracy, Consistency, median_near};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Instant};

/// True steps at which median readings are told.
pub const DISTANCES: [u32; 7] = [1, 3, 10, 30, 100, 300, 1000];
/// Pairs that are kept for figures.
const KEPT_PAIRS: usize = 300;

/// A row of `results.json`. Numbers that do not exist (no pair is that far apart, no reading is finite) are `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DistanceRow {
    /// Name of the environment.
    pub environment: String,
    /// Name of the method.
    pub method: String,
    /// How the distance was read.
    pub reading: String,
    /// Seed of the method.
    pub seed: u64,
    /// Updates of networks; 0 where nothing is trained.
    pub updates: u64,
    /// SHA-256 of the data that it was fitted to.
    pub data_sha256: String,
    /// Rows of the data.
    pub rows: u64,
    /// Pairs with a path between them.
    pub pairs: usize,
    /// Share of the pairs that have no finite reading.
    pub unreached: f64,
    /// Rank correlation with exact steps.
    pub spearman: Option<f64>,
    /// Where steps to go are read of every frame of demonstrations: mean rank correlation within those of a kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spearman_within_episodes: BTreeMap<String, f64>,
    /// Median of |reading - exact| / exact.
    pub median_relative_error: Option<f64>,
    /// Share of readings within 25 % of the exact steps.
    pub within_25_percent: f64,
    /// Median of reading / exact.
    pub median_ratio: Option<f64>,
    /// Median reading where the exact steps are 1, 3, 10, 30, 100, 300, 1000.
    pub at_steps: Vec<Option<f64>>,
    /// Median reading one step ahead.
    pub one_ahead: Option<f64>,
    /// Median reading one step behind, in environments where that is far; and how far it is.
    pub one_behind: Option<(f64, f64)>,
    /// The largest reading from a state to itself.
    pub largest_self_distance: f64,
    /// Share of triples that break the triangle inequality.
    pub triangle_violations: f64,
    /// By how many steps at most.
    pub worst_triangle: Option<f64>,
    /// Share of recorded pairs of other episodes that read longer than they took.
    pub above_recorded_lag: f64,
    /// Share of random pairs that read shorter than anybody ever was.
    pub below_speed_limit: f64,
    /// Seconds to fit all readings of the method.
    pub fit_seconds: f64,
    /// Seconds to read all pairs.
    pub query_seconds: f64,
    /// Random plans beside the map of the environment, for distances that plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<PlanCheck>,
    /// Some pairs: exact steps and readings.
    pub sample: Vec<(f64, f64)>,
}

/// What must hold of a distance, and what one recorded step reads.
pub struct Checked {
    consistency: Consistency,
    one_ahead: f64,
}

impl Checked {
    /// Checks a reading on episodes that it was not fitted to.
    pub fn of(fitted: &FittedReading, held_out: &Dataset, seed: u64) -> Self {
        let consistency = Consistency::of(&*fitted.distance, held_out, seed);
        Self { one_ahead: consistency.one_step, consistency }
    }
}

impl DistanceRow {
    /// Measures a reading; the rest says what was fitted.
    pub fn measure(fitted: &FittedReading, environment: &EnvironmentData, seed: u64, about: Self) -> Self {
        let start = Instant::now();
        let readings = fitted.steps(&environment.pairs, environment);
        let query_seconds = start.elapsed().as_secs_f64();
        let paired = |pairs: &ExactPairs| {
            median(fitted.distance.paired_steps(&pairs.from, &pairs.to).expect("they are whole states"))
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

    /// With the agreement of readings with exact steps.
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

    /// With what was checked.
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
