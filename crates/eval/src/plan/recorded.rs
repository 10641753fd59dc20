//! Waypoints along recorded segments.

use super::Waypoints;
use crate::refined::{Ahead, RefinedDistance};
use isochrone_core::{ShapeError, TemporalDistance as _};
use isochrone_data::Dataset;

/// A planner that follows the paths of the refined distance: waypoints are dataset states a fixed
/// number of steps ahead, on recorded segments with short hops between them. It needs no learned
/// distance.
pub struct RecordedPlanner {
    distance: RefinedDistance,
    data: Dataset,
    look_ahead_steps: f64,
}

impl RecordedPlanner {
    /// The default look-ahead, in steps. It is short enough for a weak low-level policy.
    pub const LOOK_AHEAD_STEPS: f64 = 12.0;

    /// Creates a planner. `distance` must have been fitted to `data`.
    pub fn new(distance: RefinedDistance, data: &Dataset, look_ahead_steps: f64) -> Self {
        // Rollouts plan in parallel.
        distance.make_table();
        Self { distance, data: data.clone(), look_ahead_steps }
    }
}

impl Waypoints for RecordedPlanner {
    fn next(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        let ahead = self.distance.ahead(from, goals, self.look_ahead_steps);
        let goals = goals.chunks_exact(self.distance.width());
        let state = |(ahead, goal)| match ahead {
            Ahead::Row(row) => self.data.state(row),
            Ahead::Goal | Ahead::NoPath => goal,
        };
        ahead.into_iter().zip(goals).flat_map(state).copied().collect()
    }

    fn is_reachable(&self, from: &[f32], goals: &[f32]) -> Vec<bool> {
        let ahead = self.distance.ahead(from, goals, self.look_ahead_steps);
        ahead.into_iter().map(|ahead| ahead != Ahead::NoPath).collect()
    }

    fn path_steps(&self, from: &[f32], goals: &[f32]) -> Vec<f64> {
        self.distance.paired_steps(from, goals).unwrap_or_else(ShapeError::panic)
    }
}
