//! One-way streets in the plane, which the exact solver knows.

use super::{ExactPairs, PAIRS, WorldData, maze::collect};
use crate::StudyError;
use isochrone_core::{Discount, exact::ExactSolver, rng};
use isochrone_envs::nav2d::Nav2d;
use rayon::prelude::*;
use std::path::Path;

pub fn open(folder: &Path) -> Result<WorldData, StudyError> {
    let (data, held_out) = collect(folder, "nav2d")?;
    let env = Nav2d::standard();
    let discount = Discount::new(0.99).expect("a discount");
    let process = env.to_mdp();
    let solver = ExactSolver::new(&process, discount);
    let n = env.sites().len();
    // As in its tasks, any site near the goal will do: to hit one exactly takes luck.
    let solve = |goal: usize| solver.to_goal_set(&env.goal_sites(goal)).expect("goals are sites").into_nats();
    let nats: Vec<Vec<f64>> = (0..n).into_par_iter().map(solve).collect();
    let (mut pairs, mut ahead) = (ExactPairs::default(), ExactPairs::default());
    let mut random = rng::stream(7, 0);
    let place = |site: usize| env.sites()[site].place.map(|x| x as f32);
    while pairs.steps.len() < PAIRS {
        let (from, to) = (rng::below(&mut random, n), rng::below(&mut random, n));
        let steps = discount.steps_from_nats(nats[to][from]);
        if steps.is_finite() {
            pairs.push(&place(from), &place(to), steps);
        }
    }
    for episode in 0..held_out.n_episodes() {
        let rows = held_out.episode(episode).observations;
        ahead.push(&rows[..2], &rows[2..4], 1.0);
    }
    let goal_radius = Some(env.map().success_radius as f32);
    Ok(WorldData { data, held_out, pairs, ahead, behind: ExactPairs::default(), goal_radius })
}
