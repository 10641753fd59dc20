//! Shortest paths through a known map, cell by cell.

use super::AntWalker;
use crate::{
    Point,
    maze::{Body, Layout, MazeCell, MazeConfig},
};
use isochrone_core::{GoalPolicy, ShapeError};
use std::collections::HashMap;

/// Directions towards any goal, by breadth-first search over cells.
pub struct Oracle {
    layout: &'static Layout,
    /// Cells to every free goal.
    to_goals: HashMap<MazeCell, Vec<Option<u32>>>,
}

impl Oracle {
    /// Finds the shortest paths of a map once.
    pub fn new(layout: &'static Layout) -> Self {
        Self { layout, to_goals: layout.free().map(|goal| (goal, layout.cells_to(goal))).collect() }
    }

    /// The cell to go to next; the same at the goal, and where there is no path.
    pub fn next_cell(&self, from: Point, goal: MazeCell) -> MazeCell {
        let here = MazeCell::of(from);
        self.to_goals.get(&goal).map_or(here, |to_goal| self.layout.next_cell(here, to_goal))
    }

    /// The direction to go: towards the center of the next cell.
    pub fn direction(&self, from: Point, goal: MazeCell) -> [f64; 2] {
        towards(from, self.next_cell(from, goal).center())
    }
}

/// A direction of length one, or shorter very close to the target.
pub(super) fn towards(from: Point, to: Point) -> [f64; 2] {
    let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    let norm = dx.hypot(dy) + 1e-6;
    [dx / norm, dy / norm]
}

/// The oracle as a policy: in the goal's cell it goes to the goal itself. It knows the map, and
/// learns nothing.
pub struct OraclePolicy {
    config: MazeConfig,
    oracle: Oracle,
}

impl OraclePolicy {
    /// The policy of a maze.
    pub fn new(config: MazeConfig) -> Self {
        Self { config, oracle: Oracle::new(config.maze.layout()) }
    }
}

impl GoalPolicy for OraclePolicy {
    fn observation_width(&self) -> usize {
        self.config.body.observation_width()
    }

    fn action_width(&self) -> usize {
        self.config.body.action_width()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.check_actions(observations, goals).unwrap_or_else(ShapeError::panic);
        let place = |row: &[f32]| [f64::from(row[0]), f64::from(row[1])];
        let rows = observations
            .chunks_exact(self.observation_width())
            .zip(goals.chunks_exact(self.observation_width()));
        let actions = rows.flat_map(|(observation, goal)| {
            let (here, goal) = (place(observation), place(goal));
            let next = self.oracle.next_cell(here, MazeCell::of(goal));
            let direction =
                if next == MazeCell::of(here) { towards(here, goal) } else { towards(here, next.center()) };
            match self.config.body {
                Body::Point => direction.map(|push| push as f32).to_vec(),
                Body::Ant => AntWalker::get().action(observation, direction).to_vec(),
            }
        });
        actions.collect()
    }
}
