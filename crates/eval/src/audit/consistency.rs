//! Consistency checks that every distance in steps must pass on recorded states.

use super::{
    readings::{Readings, observations},
    speed_limit::SpeedLimit,
};
use isochrone_core::{TemporalDistance, rng, statistics::median};
use isochrone_data::Dataset;

/// The number of sampled pairs and triples.
const SAMPLES: usize = 2000;
/// The rounding tolerance of the triangle inequality, in steps.
const TRIANGLE_SLACK: f64 = 0.01;

/// How often a distance contradicts the recorded data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Consistency {
    /// The largest reading from a state to itself.
    pub largest_self_distance: f64,
    /// The median reading of one recorded step; NaN for a matrix without consecutive states.
    pub one_step: f64,
    /// The median reading of one recorded step backward. Its correct value depends on the data.
    pub one_step_back: f64,
    /// The fraction of triples for which the path through the third state is shorter.
    pub triangle_violations: f64,
    /// The largest violation of the triangle inequality, in steps.
    pub worst_triangle: f64,
    /// The fraction of recorded pairs whose reading exceeds the recorded lag by more than a quarter
    /// and five steps.
    pub above_recorded_lag: f64,
    /// The fraction of random pairs whose reading is below the bound of the speed limit.
    pub below_speed_limit: f64,
}

impl Consistency {
    /// Describes the problems that keep readings from being steps; empty if none was found.
    /// `rank_across_episodes` is the rank correlation with recorded time
    /// ([`AcrossEpisodes`](super::AcrossEpisodes)).
    pub fn problems(&self, rank_across_episodes: f64) -> Vec<String> {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let mut problems = Vec::new();
        if !self.one_step.is_nan() && !(0.5..=2.0).contains(&self.one_step) {
            problems.push(format!("one recorded step reads {:.1}", self.one_step));
        }
        if self.above_recorded_lag > 0.1 {
            let share = percent(self.above_recorded_lag);
            problems.push(format!("{share} of recorded pairs read longer than they took"));
        }
        if self.below_speed_limit > 0.1 {
            let share = percent(self.below_speed_limit);
            problems
                .push(format!("{share} of random pairs read shorter than the recorded speed limit allows"));
        }
        if rank_across_episodes < 0.9 {
            problems.push(format!(
                "across episodes, its rank correlation with recorded time is only {rank_across_episodes:.2}"
            ));
        }
        problems
    }

    /// Checks a distance on the states of a dataset, preferably one that it was not trained on.
    pub fn of(distance: &dyn TemporalDistance, data: &Dataset, seed: u64) -> Self {
        Self::of_readings(&Readings::of_distance(distance, data), seed)
    }

    /// Checks readings between recorded states.
    pub fn of_readings(readings: &Readings<'_>, seed: u64) -> Self {
        let mut random = rng::stream(seed, 4);
        let mut states = || (0..SAMPLES).map(|_| readings.any_state(&mut random)).collect::<Vec<u64>>();
        let (a, b, c) = (states(), states(), states());
        let steps = |from: &[u64], to: &[u64]| readings.steps(from, to);
        let (ab, bc, ac) = (steps(&a, &b), steps(&b, &c), steps(&a, &c));
        let excess = (0..SAMPLES).map(|i| ac[i] - (ab[i] + bc[i])).filter(|excess| *excess > TRIANGLE_SLACK);
        let excess: Vec<f64> = excess.collect();
        let data = readings.data();
        let limits =
            SpeedLimit::of(data, seed).fewest_steps(&observations(data, &a), &observations(data, &b));
        let below = ab.iter().zip(&limits).filter(|(reading, limit)| reading < limit).count();

        let (mut from, mut to) = (Vec::new(), Vec::new());
        let (mut here, mut next) = (Vec::new(), Vec::new());
        for _ in 0..SAMPLES {
            let pair = readings.recorded_pair(&mut random);
            from.push(pair.from);
            to.push(pair.to);
            if pair.next == pair.from + 1 {
                here.push(pair.from);
                next.push(pair.next);
            }
        }
        let lags = to.iter().zip(&from).map(|(to, from)| (to - from) as f64);
        // NaN counts as too long.
        let is_long = |(reading, lag): &(f64, f64)| reading.is_nan() || *reading > 1.25 * lag + 5.0;
        let above = steps(&from, &to).into_iter().zip(lags).filter(is_long).count();
        let middle = |readings: Vec<f64>| if readings.is_empty() { f64::NAN } else { median(readings) };
        let share = |count: usize| count as f64 / SAMPLES as f64;
        Self {
            largest_self_distance: steps(&a, &a).into_iter().fold(0.0, f64::max),
            one_step: middle(steps(&here, &next)),
            one_step_back: middle(steps(&next, &here)),
            triangle_violations: share(excess.len()),
            worst_triangle: excess.into_iter().fold(0.0, f64::max),
            above_recorded_lag: share(above),
            below_speed_limit: share(below),
        }
    }
}
