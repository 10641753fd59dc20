//! Optimal success rates: a point maze as a tabular MDP.

use super::{Benchmark, Body, CELL, Layout, Maze, MazeCell, MazeConfig, PUSH};
use crate::geometry::{Point, distance};
use isochrone_core::{
    exact::{RowWriter, TabularMdp, reach_within},
    rng,
};
use rayon::prelude::*;
use std::collections::HashMap;

/// The number of grid points along the side of a cell.
const PER_CELL: i64 = (CELL / PUSH) as i64;

/// The radius of the ball, in meters.
const RADIUS: f64 = 0.7;

/// A point maze as an MDP over grid points `PUSH` apart. The actions are to move to one of the
/// eight neighbors, and to stay. An entrance leads to one of the exits.
///
/// The MDP approximates the maze: starts and goals are rounded to grid points, and pushes of less
/// than full strength are left out. A policy that succeeds in the MDP succeeds in the maze, up to
/// one step and 0.15 m; one that exceeds the step limit might succeed with actions that the MDP
/// lacks.
pub struct PointMazeMdp {
    maze: Maze,
    process: TabularMdp,
    places: Vec<Point>,
    states: HashMap<(i64, i64), usize>,
}

/// Returns the nearest grid point.
fn rounded(place: Point) -> (i64, i64) {
    ((place[0] / PUSH).round() as i64, (place[1] / PUSH).round() as i64)
}

/// Returns whether the ball can be at a position: no wall is nearer than its radius.
fn has_room(layout: &Layout, place: Point) -> bool {
    let MazeCell(row, column) = MazeCell::of(place);
    let around = (row.saturating_sub(1)..=row + 1)
        .flat_map(|row| (column.saturating_sub(1)..=column + 1).map(move |column| MazeCell(row, column)));
    let mut walls = around.filter(|&cell| !layout.is_free(cell));
    walls.all(|wall| {
        let center = wall.center();
        let [dx, dy] = [0, 1].map(|axis| ((place[axis] - center[axis]).abs() - CELL / 2.0).max(0.0));
        dx.hypot(dy) >= RADIUS - 1e-9
    })
}

impl PointMazeMdp {
    /// The number of episodes per task over which reported optimal success rates are averaged.
    pub const EPISODES: usize = 20;

    /// Builds the MDP of a maze.
    pub fn new(maze: Maze) -> Self {
        Self::with_entrances(maze, true)
    }

    /// Builds the MDP of a maze in which no action enters a teleporter.
    pub fn without_teleporters(maze: Maze) -> Self {
        Self::with_entrances(maze, false)
    }

    fn with_entrances(maze: Maze, may_enter: bool) -> Self {
        let layout = maze.layout();
        let (rows, columns) = (layout.rows() as i64, layout.columns() as i64);
        let mut places = Vec::new();
        let mut states = HashMap::new();
        for y in -PER_CELL..(rows - 1) * PER_CELL {
            for x in -PER_CELL..(columns - 1) * PER_CELL {
                let place = [x as f64 * PUSH, y as f64 * PUSH];
                if has_room(layout, place) && !layout.is_entrance(place) {
                    states.insert((x, y), places.len());
                    places.push(place);
                }
            }
        }
        let share = 1.0 / layout.exits().len().max(1) as f64;
        let exits = layout.exits().iter().map(|exit| (states[&rounded(exit.center())], share));
        let mut exits: Vec<(usize, f64)> = exits.collect();
        exits.sort_unstable_by_key(|(exit, _)| *exit);
        let mut table = RowWriter::new(places.len());
        for (state, &place) in places.iter().enumerate() {
            let (x, y) = rounded(place);
            let mut action = 0;
            for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
                let to = (x + dx, y + dy);
                let row = if layout.is_entrance([to.0 as f64 * PUSH, to.1 as f64 * PUSH]) {
                    may_enter.then(|| exits.clone())
                } else {
                    states.get(&to).map(|&next| vec![(next, 1.0)])
                };
                if let Some(row) = row {
                    table.row(state, action, row).expect("rows are distributions, in order");
                    action += 1;
                }
            }
        }
        Self {
            maze,
            process: table.finish().expect("the agent can stay at every grid point"),
            places,
            states,
        }
    }

    /// Returns the MDP.
    pub fn process(&self) -> &TabularMdp {
        &self.process
    }

    /// Returns the state nearest to a position; `None` if the ball has no room there.
    pub fn state(&self, place: Point) -> Option<usize> {
        self.states.get(&rounded(place)).copied()
    }

    /// Returns the states within a radius of a position.
    pub fn around(&self, place: Point, radius: f64) -> Vec<usize> {
        (0..self.places.len()).filter(|&state| distance(self.places[state], place) <= radius).collect()
    }

    /// Returns the optimal success rate for every task of the benchmark: the maximum probability of
    /// reaching the goal within the step limit, averaged over `episodes` starts and goals of each
    /// task. Episodes are solved in parallel.
    pub fn optimal_success(&self, episodes: usize, seed: u64) -> Vec<f64> {
        let config = MazeConfig { benchmark: Benchmark::Ogbench, body: Body::Point, maze: self.maze };
        let of_task = |task: usize| {
            let of_episode = |episode: usize| {
                let mut random = rng::stream(seed, (task * episodes + episode) as u64);
                let (start, goal) = config.task(task, || rng::unit_f64(&mut random));
                let goals = self.around(goal, config.success_radius());
                let probabilities = reach_within(&self.process, &goals, config.max_episode_steps());
                self.state(start).map_or(0.0, |start| probabilities[start])
            };
            let probabilities: Vec<f64> = (0..episodes).into_par_iter().map(of_episode).collect();
            probabilities.iter().sum::<f64>() / episodes as f64
        };
        (0..config.n_tasks()).map(of_task).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_teleporters_every_goal_can_be_reached_in_time() {
        for maze in [Maze::Medium, Maze::Large, Maze::Giant] {
            assert_eq!(PointMazeMdp::new(maze).optimal_success(2, 1), [1.0; 5], "{maze:?}");
        }
    }

    #[test]
    fn every_goal_of_the_teleport_maze_can_be_reached_without_teleporters() {
        assert_eq!(PointMazeMdp::without_teleporters(Maze::Teleport).optimal_success(2, 1), [1.0; 5]);
        let rows = |mdp: &PointMazeMdp| mdp.process().n_rows();
        assert!(
            rows(&PointMazeMdp::without_teleporters(Maze::Teleport))
                < rows(&PointMazeMdp::new(Maze::Teleport))
        );
    }
}
