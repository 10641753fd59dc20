//! Who knows the map: the way to a goal, cell by cell.

use super::AntWalker;
use crate::maze::{Body, Cell, Layout, MazeWorld, Place};
use isochrone_core::GoalPolicy;
use std::collections::HashMap;

/// Directions towards any goal, by breadth-first search over cells.
pub struct Oracle {
    layout: &'static Layout,
    /// Cells to every goal where one can be.
    to_goals: HashMap<Cell, Vec<Option<u32>>>,
}

impl Oracle {
    /// Looks at a map: all ways are looked for once.
    pub fn new(layout: &'static Layout) -> Self {
        Self { layout, to_goals: layout.free().map(|goal| (goal, layout.cells_to(goal))).collect() }
    }

    /// The cell to go to next; the same at the goal, and where there is no way.
    pub fn next_cell(&self, from: Place, goal: Cell) -> Cell {
        let here = Cell::of(from);
        self.to_goals.get(&goal).map_or(here, |to_goal| self.layout.next_cell(here, to_goal))
    }

    /// Which way to go: towards the centre of the next cell.
    pub fn direction(&self, from: Place, goal: Cell) -> [f64; 2] {
        towards(from, self.next_cell(from, goal).centre())
    }
}

/// A direction of length one, or less where there is almost nothing to go.
pub(super) fn towards(from: Place, to: Place) -> [f64; 2] {
    let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    let norm = dx.hypot(dy) + 1e-6;
    [dx / norm, dy / norm]
}

/// The oracle as a policy: in the goal's cell it goes to the goal itself. What a walker can do who knows the map and learns nothing.
pub struct OraclePolicy {
    world: MazeWorld,
    oracle: Oracle,
}

impl OraclePolicy {
    /// For a world.
    pub fn new(world: MazeWorld) -> Self {
        Self { world, oracle: Oracle::new(world.maze.layout()) }
    }
}

impl GoalPolicy for OraclePolicy {
    fn observation_width(&self) -> usize {
        self.world.body.observation_width()
    }

    fn action_width(&self) -> usize {
        self.world.body.action_width()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        let place = |row: &[f32]| [f64::from(row[0]), f64::from(row[1])];
        let rows = observations
            .chunks_exact(self.observation_width())
            .zip(goals.chunks_exact(self.observation_width()));
        let actions = rows.flat_map(|(seen, goal)| {
            let (here, goal) = (place(seen), place(goal));
            let next = self.oracle.next_cell(here, Cell::of(goal));
            let direction =
                if next == Cell::of(here) { towards(here, goal) } else { towards(here, next.centre()) };
            match self.world.body {
                Body::Point => direction.map(|push| push as f32).to_vec(),
                Body::Ant => AntWalker::get().action(seen, direction).to_vec(),
            }
        });
        actions.collect()
    }
}
