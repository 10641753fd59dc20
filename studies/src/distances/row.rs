//! One reading of one method in one world.

use super::{method::FittedReading, world::WorldData};
use isochrone_core::statistics::median;
use isochrone_eval::audit::{Accuracy, Consistency, median_near};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// True steps at which median readings are told.
pub const DISTANCES: [u32; 7] = [1, 3, 10, 30, 100, 300, 1000];
/// Pairs that are kept for figures.
const KEPT_PAIRS: usize = 300;

/// A row of `results.json`. Numbers that do not exist (no pair is that far apart, no reading is finite) are `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DistanceRow {
    /// Name of the world.
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
    /// Median reading one step behind, in worlds where that is far; and how far it is.
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
    /// Some pairs: exact steps and readings.
    pub sample: Vec<(f64, f64)>,
}

impl DistanceRow {
    /// Measures a reading; the rest says what was fitted.
    pub fn measure(fitted: &FittedReading, world: &WorldData, seed: u64, about: Self) -> Self {
        let start = Instant::now();
        let readings = fitted.steps(&world.pairs, world);
        let query_seconds = start.elapsed().as_secs_f64();
        let truth = &world.pairs.steps;
        let accuracy = Accuracy::of(&readings, truth);
        let consistency = Consistency::of(&*fitted.distance, &world.held_out, seed);
        let finite = |value: f64| value.is_finite().then_some(value);
        let paired = |pairs: &super::exact_pairs::ExactPairs| {
            let steps = fitted.distance.paired_steps(&pairs.from, &pairs.to).expect("they are whole states");
            finite(median(steps))
        };
        let behind = paired(&world.behind).map(|reading| (reading, world.behind.steps[0]));
        let sample = truth
            .iter()
            .copied()
            .zip(readings.iter().copied())
            .filter(|(exact, reading)| exact.is_finite() && reading.is_finite());
        Self {
            reading: fitted.name.to_owned(),
            pairs: accuracy.pairs,
            unreached: accuracy.unreached,
            spearman: finite(accuracy.spearman),
            median_relative_error: finite(accuracy.median_relative_error),
            within_25_percent: accuracy.within_25_percent,
            median_ratio: finite(accuracy.median_ratio),
            at_steps: DISTANCES
                .map(|steps| median_near(&readings, truth, f64::from(steps)).and_then(finite))
                .into(),
            one_ahead: paired(&world.ahead),
            one_behind: behind,
            largest_self_distance: consistency.largest_self_distance,
            triangle_violations: consistency.triangle_violations,
            worst_triangle: finite(consistency.worst_triangle),
            above_recorded_lag: consistency.above_recorded_lag,
            below_speed_limit: consistency.below_speed_limit,
            query_seconds,
            sample: sample.take(KEPT_PAIRS).collect(),
            ..about
        }
    }

    /// What is known before anything is measured.
    pub fn about(
        environment: String,
        method: &str,
        seed: u64,
        updates: u64,
        world: &WorldData,
        fit_seconds: f64,
    ) -> Self {
        Self {
            environment,
            method: method.to_owned(),
            seed,
            updates,
            data_sha256: world.data.content_hash().to_owned(),
            rows: world.data.index().n_states(),
            fit_seconds,
            reading: String::new(),
            pairs: 0,
            unreached: 0.0,
            spearman: None,
            median_relative_error: None,
            within_25_percent: 0.0,
            median_ratio: None,
            at_steps: Vec::new(),
            one_ahead: None,
            one_behind: None,
            largest_self_distance: 0.0,
            triangle_violations: 0.0,
            worst_triangle: None,
            above_recorded_lag: 0.0,
            below_speed_limit: 0.0,
            query_seconds: 0.0,
            sample: Vec::new(),
        }
    }
}
