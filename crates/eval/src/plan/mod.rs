//! Ways through what was recorded, found with a distance.
//!
//! A learned distance is best between situations that are near each other in time. A [`Planner`] uses it there, and puts the pieces together.

mod graph;
mod greedy;
mod policy;

pub use policy::PlannedPolicy;

use graph::Graph;
use isochrone_core::{TemporalDistance, statistics};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// How a way is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Planner {
    /// Of the moves recorded within a ball around where one is, always the one that leads nearest to the goal.
    Greedy {
        /// Of the ball, in the units of observations.
        radius: f64,
    },
    /// The shortest way over recorded states, from each to those that are within a horizon.
    Graph {
        /// The longest edge, in steps.
        horizon_steps: f64,
    },
}

/// Recorded moves, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moves {
    /// Where they began, `[n, width]`.
    pub states: Vec<f32>,
    /// What was done, `[n, action width]`; empty if nobody knows.
    pub actions: Vec<f32>,
    /// Where they led, `[n, width]`.
    pub next: Vec<f32>,
}

/// Recorded moves, a distance, and a way to use them.
pub struct Atlas<'a> {
    search: Search,
    distance: &'a dyn TemporalDistance,
    moves: Moves,
    /// From every place to goals that were asked for, in nats, by the bits of the goal.
    to_goals: Mutex<HashMap<Vec<u32>, Arc<Vec<f32>>>>,
}

/// A planner with what it needs.
enum Search {
    Greedy { radius: f64 },
    Graph(Graph),
}

/// Goals that are remembered; those of some thousand rollouts.
const REMEMBERED: usize = 4096;

impl<'a> Atlas<'a> {
    /// Looks at moves; for a graph, at how far states are from each other: `n^2` distances.
    ///
    /// # Panics
    /// If there is no move.
    pub fn new(planner: Planner, distance: &'a dyn TemporalDistance, moves: Moves) -> Self {
        assert!(!moves.states.is_empty() && moves.states.len() == moves.next.len(), "a way needs moves");
        let search = match planner {
            Planner::Greedy { radius } => Search::Greedy { radius },
            Planner::Graph { horizon_steps } => {
                let nats = distance.all_pairs_nats(&moves.states, &moves.states);
                let horizon = horizon_steps * distance.discount().nats_per_step();
                Search::Graph(Graph::new(&nats, horizon as f32))
            }
        };
        Self { search, distance, moves, to_goals: Mutex::default() }
    }

    /// How far a situation is in space from the nearest that was recorded, in moves of usual length.
    pub fn moves_away(&self, situation: &[f32]) -> f64 {
        let states = self.moves.states.chunks_exact(self.width());
        let lengths = states.clone().zip(self.moves.next.chunks_exact(self.width()));
        let usual = statistics::median(lengths.map(|(from, to)| greedy::apart(from, to)).collect());
        let nearest = states.map(|state| greedy::apart(situation, state)).fold(f64::INFINITY, f64::min);
        if usual > 0.0 { nearest / usual } else { 0.0 }
    }

    fn width(&self) -> usize {
        self.distance.width()
    }

    fn row<'b>(&self, rows: &'b [f32], number: usize) -> &'b [f32] {
        &rows[number * self.width()..][..self.width()]
    }

    /// Where one can go next, `[n, width]`: where moves lead, or the states of the graph.
    fn places(&self) -> &[f32] {
        match self.search {
            Search::Greedy { .. } => &self.moves.next,
            Search::Graph(_) => &self.moves.states,
        }
    }

    /// Nats to each of some goals, `[n, width]`: from where moves lead, or from states along the graph.
    fn to_goals(&self, goals: &[f32]) -> Vec<Arc<Vec<f32>>> {
        let keys: Vec<Vec<u32>> =
            goals.chunks_exact(self.width()).map(|goal| goal.iter().map(|x| x.to_bits()).collect()).collect();
        let known = |key: &Vec<u32>| self.to_goals.lock().expect("nobody panics with it").get(key).cloned();
        let mut found: Vec<Option<Arc<Vec<f32>>>> = keys.iter().map(known).collect();
        let unknown: Vec<usize> = (0..keys.len()).filter(|&row| found[row].is_none()).collect();
        if !unknown.is_empty() {
            let rows: Vec<f32> = unknown.iter().flat_map(|&row| self.row(goals, row)).copied().collect();
            // All at once: places are encoded once. Without the lock: a network computes in parallel, and who waits for that may be given other work that asks here.
            let nats = self.distance.all_pairs_nats(self.places(), &rows);
            for (column, &row) in unknown.iter().enumerate() {
                let straight: Vec<f32> = nats.iter().skip(column).step_by(unknown.len()).copied().collect();
                found[row] = Some(Arc::new(match &self.search {
                    Search::Greedy { .. } => straight,
                    Search::Graph(graph) => graph.to_goal(&straight),
                }));
            }
            let mut known = self.to_goals.lock().expect("nobody panics with it");
            if known.len() + unknown.len() > REMEMBERED {
                known.clear();
            }
            known.extend(unknown.iter().filter_map(|&row| Some((keys[row].clone(), found[row].clone()?))));
        }
        found.into_iter().map(|nats| nats.expect("all are found or computed")).collect()
    }

    /// Where to go next from each row of `from` to come to the same row of `goals`: the goal itself where it is near or nothing better is known.
    ///
    /// # Shapes
    /// `[n, width]` twice gives `[n, width]`.
    pub fn next(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        self.next_rows(from, goals, &[])
            .into_iter()
            .zip(goals.chunks_exact(self.width()))
            .flat_map(|(next, goal)| self.target(next, goal))
            .copied()
            .collect()
    }

    /// The number of the next place for every row; none for the goal itself. A greedy search takes no move that was `passed`.
    fn next_rows(&self, from: &[f32], goals: &[f32], passed: &[bool]) -> Vec<Option<usize>> {
        let rows = 0..from.len() / self.width();
        let to_goals = self.to_goals(goals);
        match &self.search {
            &Search::Greedy { radius } => rows
                .map(|row| {
                    let (here, goal) = (self.row(from, row), self.row(goals, row));
                    greedy::next(here, goal, &self.moves, radius, &to_goals[row], passed)
                })
                .collect(),
            Search::Graph(graph) => {
                let straight = self.distance.paired_nats(from, goals);
                let reach = self.distance.all_pairs_nats(from, self.places());
                let n = self.places().len() / self.width();
                rows.map(|row| graph.next(&reach[row * n..][..n], straight[row], &to_goals[row])).collect()
            }
        }
    }

    /// Whether a way is known from each row of `from` to the same row of `goals`, or the goal is near: where not, a policy is told the goal itself.
    ///
    /// # Shapes
    /// `[n, width]` twice gives `[n]`.
    pub fn has_way(&self, from: &[f32], goals: &[f32]) -> Vec<bool> {
        let pairs = from.chunks_exact(self.width()).zip(goals.chunks_exact(self.width()));
        let next = self.next_rows(from, goals, &[]);
        next.into_iter()
            .zip(pairs)
            .map(|(next, (from, goal))| next.is_some() || self.is_near(from, goal))
            .collect()
    }

    fn target<'b>(&'b self, next: Option<usize>, goal: &'b [f32]) -> &'b [f32] {
        next.map_or(goal, |number| self.row(self.places(), number))
    }

    /// A whole way from a situation to a goal: the recorded states between the two, `[n, width]`; `None` if it does not arrive. A greedy way takes no move twice.
    pub fn way(&self, from: &[f32], goal: &[f32]) -> Option<Vec<f32>> {
        let (mut way, mut passed) = (Vec::new(), vec![false; self.moves.states.len() / self.width()]);
        let mut here = from.to_vec();
        loop {
            match self.next_rows(&here, goal, &passed)[0] {
                None if self.is_near(&here, goal) => return Some(way),
                None => return None,
                // Over a graph, who comes back goes in circles.
                Some(next) if passed[next] => return None,
                Some(next) => {
                    passed[next] = true;
                    here = self.target(Some(next), goal).to_vec();
                    way.extend(&here);
                }
            }
        }
    }

    fn is_near(&self, from: &[f32], goal: &[f32]) -> bool {
        match &self.search {
            Search::Greedy { radius } => greedy::apart(from, goal) <= *radius,
            Search::Graph(graph) => self.distance.paired_nats(from, goal)[0] <= graph.horizon(),
        }
    }
}
