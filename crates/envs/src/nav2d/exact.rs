//! The world as a table: it is finite, so nothing is lost but the directions between the headings.

use super::{Nav2d, Point};
use isochrone_core::{
    Discount, GoalPolicy,
    exact::{ExactSolver, GoalDistances, RowWriter, TabularMdp},
};

/// Directions that an exact policy chooses from.
pub const HEADINGS: usize = 32;

/// A full push in a direction, counted from east against the clock.
pub fn heading(number: usize) -> Point {
    let (sin, cos) = f64::sin_cos(std::f64::consts::TAU * number as f64 / HEADINGS as f64);
    [cos, sin]
}

impl Nav2d {
    /// The world as a process over its sites; the actions are the headings. Where a way ends, one stays.
    pub fn to_mdp(&self) -> TabularMdp {
        let mut rows = RowWriter::new(self.sites().len());
        for site in 0..self.sites().len() {
            for action in 0..HEADINGS {
                let mut moves = self.moves(site, heading(action));
                if moves.is_empty() {
                    moves.push((site, 1.0));
                }
                rows.row(site, action, moves).expect("rows are distributions, in order");
            }
        }
        rows.finish().expect("every site has its rows")
    }
}

/// The best that can be done for every goal, by somebody who knows the world. It still sees sites through noise.
pub struct ExactPolicy {
    world: Nav2d,
    /// To the sites around each goal.
    to_goals: Vec<GoalDistances>,
}

impl ExactPolicy {
    /// Solves the world for every goal, in parallel. With a discount near one, what is best is what most surely arrives.
    pub fn new(world: &Nav2d, discount: Discount) -> Self {
        let process = world.to_mdp();
        let solver = ExactSolver::new(&process, discount);
        let goals: Vec<Vec<usize>> = (0..world.sites().len()).map(|goal| world.around(goal)).collect();
        let solved = solver.map_goal_sets(&goals, |distances| distances);
        Self { world: world.clone(), to_goals: solved.expect("goals are sites") }
    }

    /// `E[gamma^H]` from a site until one is near a goal: with a discount near one, the chance to arrive at all.
    pub fn discounted_arrival(&self, from: usize, goal: usize) -> f64 {
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
        let site = |row: &[f32]| self.world.nearest([f64::from(row[0]), f64::from(row[1])]);
        let rows = observations.chunks_exact(2).zip(goals.chunks_exact(2));
        let actions = rows.flat_map(|(observation, goal)| {
            let best = self.to_goals[site(goal)].action(site(observation));
            best.map_or([0.0; 2], heading).map(|push| push as f32)
        });
        actions.collect()
    }
}
