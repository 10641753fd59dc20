//! The streets as a tabular MDP. The states are exact; only the actions are discretized.

use super::streets::Nav2d;
use crate::geometry::Point;
use isochrone_core::{
    Discount, GoalPolicy, ShapeError,
    exact::{ExactSolver, GoalDistances, RowWriter, TabularMdp},
};
use rayon::prelude::*;

/// The number of directions that the exact policy chooses from.
pub const HEADINGS: usize = 32;

/// Returns the unit action in a direction; directions are numbered counterclockwise from east.
pub fn heading(number: usize) -> Point {
    let (sin, cos) = f64::sin_cos(std::f64::consts::TAU * number as f64 / HEADINGS as f64);
    [cos, sin]
}

impl Nav2d {
    /// Returns the MDP over the sites, whose actions are the headings. At a dead end, every action
    /// stays.
    pub fn to_mdp(&self) -> TabularMdp {
        let mut rows = RowWriter::new(self.sites().len());
        for site in 0..self.sites().len() {
            for action in 0..HEADINGS {
                let mut transitions = self.transitions(site, heading(action));
                if transitions.is_empty() {
                    transitions.push((site, 1.0));
                }
                rows.row(site, action, transitions).expect("rows are distributions, in order");
            }
        }
        rows.finish().expect("every site has its rows")
    }
}

/// The optimal policy for every goal. It knows the dynamics, but still observes sites with noise.
pub struct ExactPolicy {
    streets: Nav2d,
    /// Distances to the sites around each goal.
    to_goals: Vec<GoalDistances>,
}

impl ExactPolicy {
    /// Solves for every goal, in parallel. With a discount near one, the optimal policy maximizes
    /// the probability of success.
    pub fn new(streets: &Nav2d, discount: Discount) -> Self {
        let process = streets.to_mdp();
        let solver = ExactSolver::new(&process, discount);
        let to_goal = |goal: usize| solver.to_goal_set(&streets.goal_sites(goal)).expect("goals are sites");
        let to_goals = (0..streets.sites().len()).into_par_iter().map(to_goal).collect();
        Self { streets: streets.clone(), to_goals }
    }

    /// Returns `E[gamma^H]` from a site to a goal: with a discount near one, the probability of
    /// success without a step limit.
    pub fn discounted_success(&self, from: usize, goal: usize) -> f64 {
        (-self.to_goals[goal].nats(from)).exp()
    }
}

impl GoalPolicy for ExactPolicy {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.check_actions(observations, goals).unwrap_or_else(ShapeError::panic);
        let site = |row: &[f32]| self.streets.nearest([f64::from(row[0]), f64::from(row[1])]);
        let rows = observations.chunks_exact(2).zip(goals.chunks_exact(2));
        let actions = rows.flat_map(|(observation, goal)| {
            let best = self.to_goals[site(goal)].action(site(observation));
            best.map_or([0.0; 2], heading).map(|push| push as f32)
        });
        actions.collect()
    }
}
