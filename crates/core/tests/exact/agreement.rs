//! Methods that apply to the same process agree with each other and with simulation.

use crate::{
    monte_carlo::estimate_hitting,
    support::{assert_close, discount, graph, random_mdp, reference_nats},
};
use isochrone_core::{
    exact::{
        ExactSolver, GridWorld, Method, Row, SolveError, TabularMdp, certify, hitting_statistics,
        path_to_goal, reach_within,
    },
    rng,
};

fn solver(mdp: &TabularMdp, gamma: f64, method: Method) -> ExactSolver<'_> {
    ExactSolver::new(mdp, discount(gamma)).with_method(method).unwrap().with_tolerance(1e-13)
}

#[test]
fn factorization_and_policy_iteration_agree_on_chains() {
    for seed in 0..20 {
        let chain = random_mdp(seed, 60, 1, 4);
        for gamma in [0.6, 0.95, 0.999] {
            let lu = solver(&chain, gamma, Method::SparseLu);
            let swept = solver(&chain, gamma, Method::PolicyIteration);
            for goal in (0..60).step_by(7) {
                let (a, b) = (lu.to_goal(goal).unwrap(), swept.to_goal(goal).unwrap());
                (0..60).for_each(|state| assert_close(a.nats(state), b.nats(state), 1e-11));
            }
            let set = [3, 11, 40];
            let (a, b) = (lu.to_goal_set(&set).unwrap(), swept.to_goal_set(&set).unwrap());
            (0..60).for_each(|state| assert_close(a.nats(state), b.nats(state), 1e-11));
        }
    }
}

#[test]
fn breadth_first_search_and_policy_iteration_agree_on_graphs() {
    for seed in 0..20 {
        let mut rng = rng::stream(seed, 9);
        let edges: Vec<_> = (0..150).map(|_| (rng::below(&mut rng, 80), rng::below(&mut rng, 80))).collect();
        let graph = graph(80, edges);
        let (bfs, swept) =
            (solver(&graph, 0.9, Method::BreadthFirst), solver(&graph, 0.9, Method::PolicyIteration));
        for goals in [vec![0], vec![5], vec![1, 2, 3]] {
            let (a, b) = (bfs.to_goal_set(&goals).unwrap(), swept.to_goal_set(&goals).unwrap());
            for state in 0..80 {
                assert_close(a.nats(state), b.nats(state), 1e-12);
                assert_eq!(a.action(state).is_some(), b.action(state).is_some());
            }
        }
    }
}

#[test]
fn all_pairs_equal_the_single_goals() {
    let mdp = random_mdp(4, 40, 2, 3);
    let solver = ExactSolver::new(&mdp, discount(0.95));
    let pairs = solver.all_pairs().unwrap();
    for goal in 0..40 {
        let single = solver.to_goal(goal).unwrap();
        for (a, b) in pairs.to_goal(goal).iter().zip(single.all_nats()) {
            assert!(a == b || (a - b).abs() <= 2e-9 * b, "{a} and {b}");
        }
    }
    assert!(pairs.certificate().relative_error() <= 1e-9);
    assert!((pairs.steps(3, 5) - solver.to_goal(5).unwrap().steps(3)).abs() < 1e-7);
}

#[test]
fn certificates_contain_the_truth() {
    for seed in 0..30 {
        let mdp = random_mdp(seed, 30, 3, 4);
        let truth = reference_nats(&mdp, 0.97, 7);
        for tolerance in [1e-2, 1e-5, 1e-10] {
            let distances =
                ExactSolver::new(&mdp, discount(0.97)).with_tolerance(tolerance).to_goal(7).unwrap();
            let certificate = distances.certificate();
            assert!(certificate.relative_error() <= tolerance, "{certificate:?}");
            for (state, &nats) in truth.iter().enumerate().filter(|(_, nats)| nats.is_finite()) {
                let (lower, upper) = certificate.interval(distances.nats(state));
                assert!(lower <= nats + 1e-13 && nats <= upper + 1e-13, "{lower} <= {nats} <= {upper}");
            }
            // A certificate computed from the table alone has the same bound.
            let recomputed = certify(&mdp, discount(0.97), &[7], distances.all_nats());
            assert!(recomputed.relative_error() <= tolerance + 1e-12, "{recomputed:?}");
        }
        // The bound of a table that is wrong by 10 % everywhere is at least as large.
        let wrong: Vec<f64> = truth.iter().map(|nats| nats * 1.1).collect();
        let certificate = certify(&mdp, discount(0.97), &[7], &wrong);
        for (state, &nats) in truth.iter().enumerate().filter(|(_, nats)| nats.is_finite()) {
            assert!(certificate.interval(wrong[state]).0 <= nats + 1e-13);
        }
        assert!(certificate.residual_steps() >= 0.09, "{certificate:?}");
    }
}

#[test]
fn simulation_agrees_within_four_standard_errors() {
    let map = "S....\n.##.#\n.#...\n...#.\n##..G";
    let grid = GridWorld::parse(map).unwrap();
    let mdp = grid.to_mdp(0.3).unwrap();
    let goal = grid.state(4, 4).unwrap();
    let distances = ExactSolver::new(&mdp, discount(0.95)).to_goal(goal).unwrap();
    let chain = mdp.under_policy(|state| distances.action(state).unwrap_or(0)).unwrap();
    for start in (0..grid.n_states()).step_by(3) {
        let estimate = estimate_hitting(&chain, discount(0.95), start, goal, 20_000, 11 + start as u64);
        let exact = (-distances.nats(start)).exp();
        let error = (estimate.mean - exact).abs();
        assert!(error <= 4.0 * estimate.standard_error + 1e-12, "{estimate:?} against {exact}");
    }
}

#[test]
fn hitting_statistics_are_the_limit_of_discounts_near_one() {
    let chain = TabularMdp::chain_from_edges(
        4,
        [(0, 1, 0.5), (0, 0, 0.25), (0, 3, 0.25), (1, 2, 0.8), (1, 0, 0.2), (2, 2, 1.0), (3, 3, 1.0)],
    )
    .unwrap();
    let hitting = hitting_statistics(&chain, &[2]).unwrap();
    // f0 = f1/2 + f0/4, f1 = 0.8 + 0.2 f0.
    let f0 = 0.4 / 0.65;
    assert_close(hitting.reach_probability()[0], f0, 1e-14);
    assert_close(hitting.reach_probability()[1], 0.8 + 0.2 * f0, 1e-14);
    assert_eq!(hitting.reach_probability()[3], 0.0);
    let steps = hitting.mean_if_reached(|_, _| 1.0);
    assert_eq!((steps[2], steps[3]), (0.0, f64::INFINITY));
    // d = -ln f + L E[H | H < inf] + O(L^2).
    let gamma = 1.0 - 1e-6;
    let nats = ExactSolver::new(&chain, discount(gamma)).to_goal(2).unwrap().nats(0);
    assert_close((nats + f0.ln()) / -gamma.ln(), steps[0], 1e-4);
    let choice = graph(2, vec![(0, 0), (0, 1)]);
    assert_eq!(hitting_statistics(&choice, &[1]).err(), Some(SolveError::NotAChain));
}

#[test]
fn methods_reject_processes_that_they_do_not_apply_to() {
    let control = random_mdp(1, 6, 2, 3);
    let make = || ExactSolver::new(&control, discount(0.9));
    assert_eq!(make().with_method(Method::BreadthFirst).err(), Some(SolveError::NotDeterministic));
    assert_eq!(make().with_method(Method::SparseLu).err(), Some(SolveError::NotAChain));
    assert_eq!(make().to_goal(6).err(), Some(SolveError::GoalOutOfRange { goal: 6, n_states: 6 }));
    assert_eq!(make().to_goal_set(&[]).err(), Some(SolveError::NoGoal));
}

#[test]
fn statistics_of_rarely_reached_goals_are_accurate() {
    // A random walk on 0..n with drift away from 0, reflected at n - 1: 0 is reached with
    // certainty, after 1e18 steps on average.
    let (n, back) = (20usize, 0.9f64);
    let edges = (1..n).flat_map(|s| [(s, s - 1, 1.0 - back), (s, (s + 1).min(n - 1), back)]);
    let chain = TabularMdp::chain_from_edges(n, edges.chain([(0, 0, 1.0)])).unwrap();
    let hitting = hitting_statistics(&chain, &[0]).unwrap();
    // T_s, the mean time from s to s - 1: T_{n-1} = 1 / forward, T_s = (1 + back T_{s+1}) /
    // forward.
    let mut time_down = vec![1.0 / (1.0 - back); n];
    (1..n - 1).rev().for_each(|s| time_down[s] = (1.0 + back * time_down[s + 1]) / (1.0 - back));
    let steps = hitting.mean_if_reached(|_, _| 1.0);
    for state in 1..n {
        assert_close(hitting.reach_probability()[state], 1.0, 1e-13);
        let expected: f64 = time_down[1..=state].iter().sum();
        assert_close(steps[state], expected, 1e-12 * expected);
    }
    // With an absorbing state at the far end instead: the gambler's ruin, with probabilities down
    // to 1e-18.
    let edges = (1..n).flat_map(|s| [(s, s - 1, 1.0 - back), (s, s + 1, back)]);
    let chain = TabularMdp::chain_from_edges(n + 1, edges.chain([(0, 0, 1.0), (n, n, 1.0)])).unwrap();
    let hitting = hitting_statistics(&chain, &[0]).unwrap();
    let odds = (1.0 - back) / back;
    for state in 1..n {
        // Pr(0 before n) = (r^s - r^n) / (1 - r^n) with r = forward / back.
        let expected = (odds.powi(state as i32) - odds.powi(n as i32)) / (1.0 - odds.powi(n as i32));
        assert_close(hitting.reach_probability()[state] / expected, 1.0, 1e-9);
    }
    assert!(hitting.reach_probability()[n - 1] < 1e-17);
}

#[test]
fn the_most_likely_path_ends_at_the_goal() {
    // The likely outcome of states 0 and 1 leads to the other; only the unlikely one leads to the
    // goal.
    let edges = [(0, 1, 0.9), (0, 2, 0.1), (1, 0, 0.9), (1, 2, 0.1), (2, 2, 1.0), (3, 3, 1.0)];
    let chain = TabularMdp::chain_from_edges(4, edges).unwrap();
    let distances = ExactSolver::new(&chain, discount(0.9)).to_goal(2).unwrap();
    assert_eq!(path_to_goal(&chain, &distances, 0), [0, 2]);
    assert_eq!(path_to_goal(&chain, &distances, 2), [2]);
    assert!(path_to_goal(&chain, &distances, 3).is_empty());
    // On a grid without slip, the path is a shortest path.
    let grid = GridWorld::parse("S...\n.##.\n...G").unwrap();
    let mdp = grid.to_mdp(0.0).unwrap();
    let goal = grid.state(2, 3).unwrap();
    let distances = ExactSolver::new(&mdp, discount(0.9)).to_goal(goal).unwrap();
    let path = path_to_goal(&mdp, &distances, 0);
    assert_eq!((path.len(), path[5]), (6, goal));
}

#[test]
fn reach_within_equals_the_plain_recursion() {
    let mdp = random_mdp(5, 30, 3, 2);
    let mut plain: Vec<f64> = (0..30).map(|state| f64::from(u8::from(state == 4))).collect();
    for steps in 1..12 {
        let expected = |row: Row<'_>| row.iter().map(|(next, p)| p * plain[next]).sum::<f64>();
        let best = |state: usize| mdp.rows(state).map(expected).fold(0.0, f64::max);
        plain = (0..30).map(|state| if state == 4 { 1.0 } else { best(state) }).collect();
        for (fast, slow) in reach_within(&mdp, &[4], steps).iter().zip(&plain) {
            assert!((fast - slow).abs() < 1e-12);
        }
    }
}
