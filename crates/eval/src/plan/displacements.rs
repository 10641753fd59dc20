//! The waypoints of a planner as a teacher.

use super::Waypoints;
use isochrone_core::GoalPolicy;
use std::ops::Range;

/// A planner whose "actions" are the displacements to its next waypoints, in the dimensions of a
/// goal: what a network learns that replaces the planner.
pub struct WaypointDisplacements<P> {
    /// The planner.
    pub planner: P,
    /// The width of an observation.
    pub observation_width: usize,
    /// The dimensions of an observation that form a goal.
    pub goal: Range<usize>,
}

impl<P: Waypoints> GoalPolicy for WaypointDisplacements<P> {
    fn observation_width(&self) -> usize {
        self.observation_width
    }

    fn action_width(&self) -> usize {
        self.goal.len()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        let waypoints = self.planner.next(observations, goals);
        let rows = |values: &'_ [f32]| -> Vec<f32> {
            values
                .chunks_exact(self.observation_width)
                .flat_map(|row| &row[self.goal.clone()])
                .copied()
                .collect()
        };
        rows(&waypoints).iter().zip(rows(observations)).map(|(to, from)| to - from).collect()
    }
}
