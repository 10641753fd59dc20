//! One-way streets in the plane, with exact distances.

use super::{EnvironmentData, ExactPairs, PAIRS, maze::collect};
use crate::StudyError;
use isochrone_core::{
    Discount,
    exact::{ExactSolver, RowWriter, TabularMdp},
    rng,
};
use isochrone_envs::nav2d::Nav2d;
use rayon::prelude::*;
use std::{collections::BTreeSet, path::Path};

/// States that are near each other are at most this many steps apart; against the direction of a
/// street it is a full lap.
const MAX_EDGE_STEPS: f64 = 12.0;

/// With chance, exact distances are the discounted ones of the optimal policy to any site near the
/// goal, as in the tasks of the environment, because reaching one exact site depends on chance.
/// Without chance, they are the minimum number of steps to the exact site.
pub fn open(folder: &Path, with_chance: bool) -> Result<EnvironmentData, StudyError> {
    let (data, held_out) = collect(folder, "nav2d")?;
    let env = Nav2d::standard();
    let discount = Discount::new(0.99).expect("a discount");
    let process = if with_chance { env.to_mdp() } else { without_chance(&env.to_mdp()) };
    let solver = ExactSolver::new(&process, discount);
    let n = env.sites().len();
    let steps_to = |goal: usize| -> Vec<f64> {
        let goals = if with_chance { env.goal_sites(goal) } else { vec![goal] };
        let nats = solver.to_goal_set(&goals).expect("goals are sites").into_nats();
        let steps = nats.into_iter().map(|nats| discount.steps_from_nats(nats));
        if with_chance { steps.collect() } else { steps.map(f64::round).collect() }
    };
    let steps: Vec<Vec<f64>> = (0..n).into_par_iter().map(steps_to).collect();
    let mut pairs = ExactPairs::default();
    let mut random = rng::stream(7, 0);
    let place = |site: usize| env.sites()[site].place.map(|x| x as f32);
    while pairs.steps.len() < PAIRS {
        let (from, to) = (rng::below(&mut random, n), rng::below(&mut random, n));
        if steps[to][from].is_finite() {
            pairs.push(&place(from), &place(to), steps[to][from]);
        }
    }
    let ahead = ExactPairs::first_steps(&held_out);
    let goal_radius = with_chance.then_some(env.map().success_radius as f32);
    // An observation does not identify the exact site: any site near it counts.
    let is_connected = Box::new(move |from: &[f32], to: &[f32]| {
        let site = |state: &[f32]| env.nearest([f64::from(state[0]), f64::from(state[1])]);
        let goals = if with_chance { vec![site(to)] } else { env.goal_sites(site(to)) };
        goals.into_iter().any(|goal| steps[goal][site(from)] <= MAX_EDGE_STEPS)
    });
    Ok(EnvironmentData {
        data,
        held_out,
        pairs,
        ahead,
        behind: ExactPairs::default(),
        goal_radius,
        is_connected,
    })
}

/// Returns the deterministic process in which every possible successor of a state is an action.
fn without_chance(process: &TabularMdp) -> TabularMdp {
    let mut rows = RowWriter::new(process.n_states());
    for state in 0..process.n_states() {
        let next: BTreeSet<usize> = process
            .rows(state)
            .flat_map(|row| row.iter().map(|(next, _)| next).collect::<Vec<_>>())
            .collect();
        for (action, next) in next.into_iter().enumerate() {
            rows.row(state, action, [(next, 1.0)]).expect("rows are distributions, in order");
        }
    }
    rows.finish().expect("every state has its rows")
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::exact::GridWorld;

    /// If slips can be chosen, distances are those without slipping.
    #[test]
    fn without_chance_distances_are_those_without_slipping() {
        let grid = GridWorld::parse("..#\n.v.\n...").unwrap();
        let discount = Discount::new(0.9).unwrap();
        let [slippery, dry] = [0.3, 0.0].map(|slip| grid.to_mdp(slip).unwrap());
        let chosen = without_chance(&slippery);
        let [chosen, exact] =
            [&chosen, &dry].map(|process| ExactSolver::new(process, discount).all_pairs().unwrap());
        for (from, goal) in
            (0..grid.n_states()).flat_map(|from| (0..grid.n_states()).map(move |to| (from, to)))
        {
            let (steps, found) = (chosen.steps(from, goal), exact.steps(from, goal));
            assert!((steps - found).abs() < 1e-9 || steps == found, "{from} to {goal}: {steps} {found}");
        }
    }
}
