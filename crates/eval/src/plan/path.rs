//! A planned path.

use isochrone_core::TemporalDistance;

/// A path of states from a start to a goal, both included, with the steps between them according to
/// the planner's distance.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    width: usize,
    /// All states, `[n, width]`: the start, the waypoints, the goal.
    pub states: Vec<f32>,
    /// The length of each edge, in steps; one fewer than there are states.
    pub edge_steps: Vec<f64>,
    /// The direct distance from each state to the goal, in steps.
    pub steps_left: Vec<f64>,
}

impl Path {
    pub(super) fn new(distance: &dyn TemporalDistance, states: Vec<f32>) -> Self {
        let width = distance.width();
        let (before, after) = (&states[..states.len() - width], &states[width..]);
        let edge_steps = distance.paired_steps(before, after).expect("paths have complete states");
        let goal = &states[states.len() - width..];
        let steps_left = distance.all_pairs_steps(&states, goal).expect("paths have complete states");
        Self { width, states, edge_steps, steps_left }
    }

    /// Returns the states between start and goal, in order.
    pub fn waypoints(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.states[self.width..self.states.len() - self.width].chunks_exact(self.width)
    }

    /// Returns the hop ratio: the longest edge over the direct distance from start to goal. A path
    /// of short edges between states that are far apart helps a policy that reaches near goals
    /// only; above about 0.4, a plan changes little. It is 1 for a path without waypoints.
    pub fn hop_ratio(&self) -> f64 {
        let longest = self.edge_steps.iter().copied().fold(0.0, f64::max);
        if self.steps_left[0] > 0.0 { longest / self.steps_left[0] } else { 1.0 }
    }

    /// Returns the length of the path: the steps of all edges.
    pub fn steps(&self) -> f64 {
        self.edge_steps.iter().sum()
    }
}
