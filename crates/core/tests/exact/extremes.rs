//! Distances of thousands of nats, discounts near one, and improbable detours.

use crate::support::{assert_close, discount, reference_nats};
use isochrone_core::{
    Discount,
    exact::{ExactSolver, GridWorld, MdpBuilder, Method, TabularMdp},
};

/// A random walk on a line that moves towards 0 with probability `forward` and back otherwise.
fn drifting_line(n: usize, forward: f64) -> TabularMdp {
    let edges = (1..n)
        .flat_map(|state| [(state, state - 1, forward), (state, (state + 1).min(n - 1), 1.0 - forward)]);
    TabularMdp::chain_from_edges(n, edges.chain([(0, 0, 1.0)])).unwrap()
}

/// `E[gamma^H]` of one step towards 0 on the infinite line solves `x = gamma (f + (1 - f) x^2)`.
fn nats_per_cell(gamma: f64, forward: f64) -> f64 {
    let back = 1.0 - forward;
    -((1.0 - (1.0 - 4.0 * gamma * gamma * forward * back).sqrt()) / (2.0 * gamma * back)).ln()
}

#[test]
fn distances_far_beyond_underflow_are_exact() {
    for (gamma, forward) in [(0.5, 0.9), (0.05, 0.5), (0.9, 0.02), (0.99, 0.3)] {
        let line = drifting_line(3_000, forward);
        let solver = ExactSolver::new(&line, discount(gamma));
        let distances = solver.to_goal(0).unwrap();
        let per_cell = nats_per_cell(gamma, forward);
        assert!(distances.certificate().relative_error() <= 1e-9, "{:?}", distances.certificate());
        for cell in [1, 10, 500, 2_500] {
            assert_close(distances.nats(cell), cell as f64 * per_cell, 2e-9 * cell as f64 * per_cell);
        }
        assert!(distances.nats(2_500) > 745.0 || gamma > 0.9, "exp(-d) underflows a double");
    }
}

#[test]
fn a_factorization_that_underflows_has_an_infinite_bound() {
    let line = drifting_line(3_000, 0.9);
    let lu = ExactSolver::new(&line, discount(0.5)).with_method(Method::SparseLu).unwrap();
    assert_eq!(lu.to_goal(0).unwrap().certificate().relative_error(), f64::INFINITY);
}

/// A combination lock: each step advances with probability `chance` and otherwise returns to the
/// start. A second action takes a deterministic detour of `detour` steps.
fn lock(n: usize, detour: usize, chance: f64) -> TabularMdp {
    let (goal, n_states) = (n, n + 1 + detour);
    let mut builder = MdpBuilder::new(n_states);
    for state in 0..n {
        builder.transition(state, 0, state + 1, chance).transition(state, 0, 0, 1.0 - chance);
    }
    builder.transition(goal, 0, goal, 1.0);
    if detour > 0 {
        builder.transition(0, 1, goal + 1, 1.0);
        for k in 1..=detour {
            builder.transition(goal + k, 0, if k == detour { goal } else { goal + k + 1 }, 1.0);
        }
    }
    builder.build().unwrap()
}

#[test]
fn improbable_detours_do_not_confuse_the_scaling() {
    let cases = [(40, 0, 1e-60), (12, 30, 1e-200), (25, 60, 1e-300), (200, 0, 0.5), (5, 9, 0.5)];
    for (n, detour, chance) in cases {
        let mdp = lock(n, detour, chance);
        let truth = reference_nats(&mdp, 0.9, n);
        let distances = ExactSolver::new(&mdp, discount(0.9)).with_tolerance(1e-10).to_goal(n).unwrap();
        assert!(distances.certificate().relative_error() <= 1e-9, "{:?}", distances.certificate());
        for state in 0..mdp.n_states() {
            assert_close(distances.nats(state), truth[state], 1e-8 * truth[state].max(1e-300));
        }
    }
}

#[test]
fn the_largest_discount_is_certified() {
    let grid = GridWorld::parse("..........\n.########.\n.#......#.\n.#.####.#.\n...#..#...").unwrap();
    let mdp = grid.to_mdp(0.4).unwrap();
    let gamma = Discount::MAX_GAMMA;
    let goal = grid.state(0, 5).unwrap();
    let distances = ExactSolver::new(&mdp, discount(gamma)).to_goal(goal).unwrap();
    assert!(distances.certificate().relative_error() < 1e-8, "{:?}", distances.certificate());
    // The goal is reached with certainty, so effective steps at this discount are the expected
    // steps of the policy.
    let chain = mdp.under_policy(|state| distances.action(state).unwrap_or(0)).unwrap();
    let expected =
        isochrone_core::exact::hitting_statistics(&chain, &[goal]).unwrap().mean_if_reached(|_, _| 1.0);
    for state in 0..mdp.n_states() {
        assert_close(distances.steps(state), expected[state], 1e-3 * expected[state].max(1.0));
    }
}

#[test]
fn well_mixed_processes_at_discounts_near_one_converge() {
    // There are few layers and one slow mode: sweeps alone would need thousands of passes.
    let mdp = crate::support::random_mdp(3, 400, 3, 4);
    let distances = ExactSolver::new(&mdp, discount(0.99999)).to_goal(0).unwrap();
    assert!(distances.certificate().relative_error() <= 1e-8, "{:?}", distances.certificate());
}

/// Two locks in series, each with tiny success probabilities and a deterministic detour: the first
/// estimate of each is too large by thousands of nats.
fn two_locks(rungs: usize, detour: usize, chance: f64) -> (TabularMdp, usize) {
    let block = rungs + detour;
    let goal = 2 * block;
    let mut builder = MdpBuilder::new(goal + 1);
    for lock in 0..2 {
        let (first, exit) = (lock * block, (lock + 1) * block);
        for k in 0..rungs {
            let next = if k + 1 == rungs { exit } else { first + k + 1 };
            builder.transition(first + k, 0, next, chance).transition(first + k, 0, first + k, 1.0 - chance);
        }
        builder.transition(first, 1, first + rungs, 1.0);
        for k in 0..detour {
            let next = if k + 1 == detour { exit } else { first + rungs + k + 1 };
            builder.transition(first + rungs + k, 0, next, 1.0);
        }
    }
    builder.transition(goal, 0, goal, 1.0);
    (builder.build().unwrap(), goal)
}

#[test]
fn clipped_weights_in_series_do_not_overflow() {
    for (rungs, detour) in [(3, 8), (2, 20), (6, 30)] {
        for chance in [1e-300, 1e-160, 1e-80, 0.01] {
            let (mdp, goal) = two_locks(rungs, detour, chance);
            let truth = reference_nats(&mdp, 0.9, goal);
            let distances = ExactSolver::new(&mdp, discount(0.9)).to_goal(goal).unwrap();
            assert!(distances.certificate().relative_error() <= 1e-9, "{:?}", distances.certificate());
            for state in 0..mdp.n_states() {
                assert_close(distances.nats(state), truth[state], 2e-9 * truth[state].max(1e-300));
            }
        }
    }
}

#[test]
fn certificates_hold_to_the_last_digits() {
    // Deterministic detours around improbable shortcuts have known lengths: 1, 2, 3, ... steps.
    for gamma in [0.5, 0.9, 0.999] {
        for chance in [1e-160, 1e-300] {
            let (mdp, goal) = two_locks(2, 6, chance);
            let distances =
                ExactSolver::new(&mdp, discount(gamma)).with_tolerance(1e-15).to_goal(goal).unwrap();
            for (state, exact_steps) in [(0, 14.0), (8, 7.0), (13, 3.0), (15, 1.0)] {
                let (lower, upper) = distances.certificate().interval(distances.steps(state));
                assert!(lower <= exact_steps && exact_steps <= upper, "{lower} {exact_steps} {upper}");
            }
        }
    }
}

#[test]
fn pure_diffusion_at_the_largest_discount_is_solved() {
    // Without drift, values depend on the entire line, far beyond any window.
    for (n, gamma) in [(1_000, Discount::MAX_GAMMA), (3_000, 0.99999)] {
        let line = drifting_line(n, 0.5);
        let swept = ExactSolver::new(&line, discount(gamma)).with_method(Method::PolicyIteration).unwrap();
        let distances = swept.to_goal(0).unwrap();
        assert!(distances.certificate().relative_error() < 1e-7, "{:?}", distances.certificate());
        // On a line reflected at its end, E[gamma^H] = cosh(a (m - s)) / cosh(a m), cosh a = 1 /
        // gamma.
        let a = (1.0 / gamma).acosh();
        let log_cosh = |x: f64| x + (-2.0 * x).exp().ln_1p() - 2f64.ln();
        let m = n as f64 - 0.5;
        for state in [1, n / 3, n - 1] {
            let expected = log_cosh(a * m) - log_cosh(a * (m - state as f64));
            assert_close(distances.nats(state), expected, 1e-6 * expected);
        }
    }
}

#[test]
fn trivial_goal_sets_are_solved() {
    let mdp = crate::support::random_mdp(8, 12, 3, 3);
    let all: Vec<usize> = (0..12).collect();
    let everywhere = ExactSolver::new(&mdp, discount(0.9)).to_goal_set(&all).unwrap();
    assert!(everywhere.all_nats().iter().all(|&nats| nats == 0.0));
    // No other state can reach the goal: there is one layer.
    let mut builder = MdpBuilder::new(2);
    builder
        .transition(0, 0, 1, 0.5)
        .transition(0, 0, 0, 0.5)
        .transition(0, 1, 1, 1.0)
        .transition(1, 0, 1, 1.0);
    let away = builder.build().unwrap();
    let unreachable = ExactSolver::new(&away, discount(0.9)).to_goal(0).unwrap();
    assert_eq!((unreachable.nats(0), unreachable.nats(1)), (0.0, f64::INFINITY));
}
