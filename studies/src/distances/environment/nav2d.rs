//! One-way streets in the plane, which the exact solver knows.

use super::{EnvironmentData, ExactPairs, PAIRS, maze::collect};
use crate::StudyError;
use isochrone_core::{
    Discount,
    exact::{ExactSolver, TabularMdp},
    rng,
};
use isochrone_envs::nav2d::Nav2d;
use rayon::prelude::*;
use std::path::Path;

/// Near states are no more steps apart; against a street it is a lap.
const MAX_HOP_STEPS: f64 = 12.0;

/// With chance, the truth is that of the optimal policy, discounted, and any site near the goal will do, as in its tasks: to hit one
/// exactly takes luck. Without, it is the fewest steps that are possible, to the very site.
pub fn open(folder: &Path, with_chance: bool) -> Result<EnvironmentData, StudyError> {
    let (data, held_out) = collect(folder, "nav2d")?;
    let env = Nav2d::standard();
    let discount = Discount::new(0.99).expect("a discount");
    let process = env.to_mdp();
    let solver = ExactSolver::new(&process, discount);
    let n = env.sites().len();
    let optimal = |goal: usize| {
        let nats = solver.to_goal_set(&env.goal_sites(goal)).expect("goals are sites").into_nats();
        nats.into_iter().map(|nats| discount.steps_from_nats(nats)).collect()
    };
    let before = with_a_step_to(&process);
    let steps_to = |goal: usize| if with_chance { optimal(goal) } else { fewest_steps(&before, goal) };
    let steps: Vec<Vec<f64>> = (0..n).into_par_iter().map(steps_to).collect();
    let (mut pairs, mut ahead) = (ExactPairs::default(), ExactPairs::default());
    let mut random = rng::stream(7, 0);
    let place = |site: usize| env.sites()[site].place.map(|x| x as f32);
    while pairs.steps.len() < PAIRS {
        let (from, to) = (rng::below(&mut random, n), rng::below(&mut random, n));
        if steps[to][from].is_finite() {
            pairs.push(&place(from), &place(to), steps[to][from]);
        }
    }
    for episode in 0..held_out.n_episodes() {
        let rows = held_out.episode(episode).observations;
        ahead.push(&rows[..2], &rows[2..4], 1.0);
    }
    let goal_radius = with_chance.then_some(env.map().success_radius as f32);
    // An observation does not tell the very site: any site near it will do.
    let can_hop = Box::new(move |from: &[f32], to: &[f32]| {
        let site = |state: &[f32]| env.nearest([f64::from(state[0]), f64::from(state[1])]);
        let goals = if with_chance { vec![site(to)] } else { env.goal_sites(site(to)) };
        goals.into_iter().any(|goal| steps[goal][site(from)] <= MAX_HOP_STEPS)
    });
    Ok(EnvironmentData { data, held_out, pairs, ahead, behind: ExactPairs::default(), goal_radius, can_hop })
}

/// For every state those from which some action may lead to it.
fn with_a_step_to(process: &TabularMdp) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); process.n_states()];
    for state in 0..process.n_states() {
        for (next, _) in process.rows(state).flat_map(|row| row.iter().collect::<Vec<_>>()) {
            before[next].push(state);
        }
    }
    for states in &mut before {
        states.sort_unstable();
        states.dedup();
    }
    before
}

/// Steps to a goal from every state, if all goes as well as it can.
fn fewest_steps(before: &[Vec<usize>], goal: usize) -> Vec<f64> {
    let mut steps = vec![f64::INFINITY; before.len()];
    steps[goal] = 0.0;
    let mut reached = vec![goal];
    let mut next = 0;
    while next < reached.len() {
        let state = reached[next];
        next += 1;
        for &earlier in &before[state] {
            if steps[earlier].is_infinite() {
                steps[earlier] = steps[state] + 1.0;
                reached.push(earlier);
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::exact::GridWorld;

    #[test]
    fn the_fewest_steps_are_those_of_the_exact_solver_where_nothing_is_random() {
        let process = GridWorld::parse("..#\n.v.\n...").unwrap().to_mdp(0.0).unwrap();
        let exact = ExactSolver::new(&process, Discount::new(0.9).unwrap()).all_pairs().unwrap();
        let before = with_a_step_to(&process);
        for goal in 0..process.n_states() {
            for (from, steps) in fewest_steps(&before, goal).into_iter().enumerate() {
                let found = exact.steps(from, goal);
                assert!(steps == found.round() || steps == found, "{from} to {goal}: {steps} {found}");
            }
        }
    }
}
