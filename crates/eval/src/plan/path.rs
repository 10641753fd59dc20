//! A planned path.

use isochrone_core::TemporalDistance;

/// States from a start to a goal, both included, with the steps between them as the planner's distance sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    width: usize,
    /// All states, `[n, width]`: the start, the waypoints, the goal.
    pub states: Vec<f32>,
    /// Steps of each edge; one fewer than there are states.
    pub edge_steps: Vec<f64>,
    /// The distance from each state straight to the goal, in steps.
    pub steps_left: Vec<f64>,
}

impl Path {
    pub(super) fn new(distance: &dyn TemporalDistance, states: Vec<f32>) -> Self {
        let width = distance.width();
        let (before, after) = (&states[..states.len() - width], &states[width..]);
        let edge_steps = distance.paired_steps(before, after).expect("plans are whole states");
        let goal = &states[states.len() - width..];
        let steps_left = distance.all_pairs_steps(&states, goal).expect("plans are whole states");
        Self { width, states, edge_steps, steps_left }
    }

    /// The states between start and goal, one after the other.
    pub fn waypoints(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.states[self.width..self.states.len() - self.width].chunks_exact(self.width)
    }

    /// Steps of all edges together.
    pub fn steps(&self) -> f64 {
        self.edge_steps.iter().sum()
    }
}
