//! Shortest paths over the cells of a known map.

use crate::{
    Point,
    maze::{Layout, MazeCell},
};
use std::collections::HashMap;

/// Directions towards any goal, by breadth-first search over cells.
pub struct Oracle {
    layout: &'static Layout,
    /// The distances of all cells to every free goal, in cells.
    to_goals: HashMap<MazeCell, Vec<Option<u32>>>,
}

impl Oracle {
    /// Computes the shortest paths of a map.
    pub fn new(layout: &'static Layout) -> Self {
        Self { layout, to_goals: layout.free().map(|goal| (goal, layout.cells_to(goal))).collect() }
    }

    /// Returns the next cell on the path; the current cell at the goal, and if there is no path.
    pub fn next_cell(&self, from: Point, goal: MazeCell) -> MazeCell {
        let here = MazeCell::of(from);
        self.to_goals.get(&goal).map_or(here, |to_goal| self.layout.next_cell(here, to_goal))
    }

    /// Returns the direction towards the center of the next cell.
    pub fn direction(&self, from: Point, goal: MazeCell) -> [f64; 2] {
        towards(from, self.next_cell(from, goal).center())
    }
}

/// Returns the unit vector from one point to another; it is shorter very close to the target.
pub(super) fn towards(from: Point, to: Point) -> [f64; 2] {
    let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    let norm = dx.hypot(dy) + 1e-6;
    [dx / norm, dy / norm]
}
