//! Shortest paths through a known map, cell by cell.

use crate::{
    Point,
    maze::{Layout, MazeCell},
};
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
