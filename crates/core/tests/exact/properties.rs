//! Properties of the successor distance on random processes.

use crate::support::{assert_close, discount, random_mdp};
use isochrone_core::exact::{AllPairs, ExactSolver, GoalDistances, MdpBuilder, TabularMdp};
use proptest::{prelude::*, test_runner::RngSeed};

/// Returns `d((state, action), goal)` in nats, the distance if the first action is given and
/// optimal actions follow:
///
/// ```text
/// d((s,a), g) = -ln( gamma * sum_s' P(s'|s,a) exp(-d(s',g)) )    for s != g,    0 for s = g
/// ```
///
/// It does not depend on the action at the goal, and `min_a d((s,a), g) = d(s, g)`.
fn action_nats(mdp: &TabularMdp, distances: &GoalDistances, gamma: f64, state: usize, action: usize) -> f64 {
    let row = mdp.action_row(state, action).unwrap();
    if distances.nats(state) == 0.0 {
        return 0.0;
    }
    let nearest = row.iter().map(|(to, _)| distances.nats(to)).fold(f64::INFINITY, f64::min);
    if nearest.is_infinite() {
        return f64::INFINITY;
    }
    let sum: f64 = row.iter().map(|(to, p)| p * (nearest - distances.nats(to)).exp()).sum();
    discount(gamma).nats_per_step() + nearest - sum.ln()
}

/// Checks non-negativity, identity and the triangle inequality of a table of distances.
fn assert_quasimetric(n: usize, pairs: &AllPairs) {
    for a in 0..n {
        assert_eq!(pairs.nats(a, a), 0.0);
        for b in 0..n {
            assert!(a == b || pairs.nats(a, b) > 0.0, "d({a},{b}) = {}", pairs.nats(a, b));
            for c in 0..n {
                let (direct, detour) = (pairs.nats(a, c), pairs.nats(a, b) + pairs.nats(b, c));
                assert!(direct <= detour * (1.0 + 1e-8), "d({a},{c}) = {direct} > {detour} via {b}");
            }
        }
    }
}

/// Builds the process over (state, action) pairs with two actions per state. The next action is
/// chosen after the transition, so an action of the new process is one bit for each possible
/// successor.
fn lifted(mdp: &TabularMdp) -> TabularMdp {
    let pair = |state: usize, action: usize| 2 * state + action;
    let mut builder = MdpBuilder::new(2 * mdp.n_states());
    for state in 0..mdp.n_states() {
        for row in mdp.rows(state) {
            for choice in 0..1 << row.successors.len() {
                for (k, (to, p)) in row.iter().enumerate() {
                    builder.transition(pair(state, row.action), choice, pair(to, choice >> k & 1), p);
                }
            }
        }
    }
    builder.build().unwrap()
}

proptest! {
    // The cases are the same in every run; for a longer search, change the seed and the number of
    // cases.
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_successor_distance_is_a_quasimetric(seed: u64, n in 2usize..9, actions in 1usize..4, width in 1usize..4, gamma in 0.05f64..0.999) {
        let mdp = random_mdp(seed, n, actions, width);
        let pairs = ExactSolver::new(&mdp, discount(gamma)).all_pairs().unwrap();
        assert_quasimetric(n, &pairs);
        prop_assert!(pairs.certificate().relative_error() <= 1e-9);
    }

    #[test]
    fn distances_are_infinite_exactly_for_unreachable_goals(seed: u64, n in 2usize..12, actions in 1usize..3, width in 1usize..3) {
        let mdp = random_mdp(seed, n, actions, width);
        let pairs = ExactSolver::new(&mdp, discount(0.9)).all_pairs().unwrap();
        // Reachability by transitive closure, independent of the search of the solvers.
        let mut reaches = vec![vec![false; n]; n];
        for (from, row) in reaches.iter_mut().enumerate() {
            row[from] = true;
            mdp.rows(from).for_each(|r| r.iter().for_each(|(to, _)| row[to] = true));
        }
        for via in 0..n {
            for from in 0..n {
                for to in 0..n {
                    reaches[from][to] |= reaches[from][via] && reaches[via][to];
                }
            }
        }
        for (from, row) in reaches.iter().enumerate() {
            for (to, &reached) in row.iter().enumerate() {
                prop_assert_eq!(pairs.nats(from, to).is_finite(), reached);
            }
        }
    }

    #[test]
    fn the_distance_is_the_minimum_over_first_actions(seed: u64, n in 2usize..8, gamma in 0.2f64..0.99) {
        let mdp = random_mdp(seed, n, 3, 3);
        let distances = ExactSolver::new(&mdp, discount(gamma)).to_goal(0).unwrap();
        for state in 0..n {
            let by_action: Vec<f64> = (0..3).map(|a| action_nats(&mdp, &distances, gamma, state, a)).collect();
            let best = by_action.iter().copied().fold(f64::INFINITY, f64::min);
            let nats = distances.nats(state);
            prop_assert!(best == nats || (best - nats).abs() <= 1e-8 * nats, "{best} against {nats}");
            if let Some(action) = distances.action(state) {
                prop_assert!((by_action[action] - nats).abs() <= 1e-8 * nats);
            }
        }
    }

    #[test]
    fn the_distance_does_not_depend_on_the_goal_action(seed: u64, n in 2usize..5, gamma in 0.3f64..0.97) {
        let mdp = random_mdp(seed, n, 2, 3);
        let lifted = lifted(&mdp);
        let (flat, over_pairs) = (ExactSolver::new(&mdp, discount(gamma)), ExactSolver::new(&lifted, discount(gamma)));
        let distances = flat.to_goal(0).unwrap();
        for goal_action in 0..2 {
            let to_pair = over_pairs.to_goal(goal_action).unwrap();
            for state in 1..n {
                for action in 0..2 {
                    let expected = action_nats(&mdp, &distances, gamma, state, action);
                    let actual = to_pair.nats(state * 2 + action);
                    prop_assert!(actual == expected || (actual - expected).abs() <= 1e-8 * expected);
                }
            }
        }
    }

    #[test]
    fn the_distance_to_a_set_is_at_most_that_to_its_nearest_member(seed: u64, n in 4usize..10) {
        let mdp = random_mdp(seed, n, 2, 3);
        let solver = ExactSolver::new(&mdp, discount(0.9));
        let members = solver.map_goals(&[0, 1, 2], |distances| distances).unwrap();
        let set = solver.to_goal_set(&[2, 0, 1, 0]).unwrap();
        for state in 0..n {
            let nearest = members.iter().map(|d| d.nats(state)).fold(f64::INFINITY, f64::min);
            prop_assert!(set.nats(state) <= nearest * (1.0 + 1e-8));
        }
        prop_assert!((0..3).all(|goal| set.nats(goal) == 0.0));
    }

    #[test]
    fn effective_steps_approach_the_expected_steps_from_below(seed: u64, n in 2usize..8) {
        // Every state of the chain has a transition to the goal, so that expected steps are finite.
        let mut edges = Vec::new();
        let base = random_mdp(seed, n, 1, 3);
        for state in 0..n {
            base.rows(state).for_each(|row| edges.extend(row.iter().map(|(to, p)| (state, to, 0.9 * p))));
            edges.push((state, 0, 0.1));
        }
        let chain = TabularMdp::chain_from_edges(n, edges).unwrap();
        let expected = isochrone_core::exact::hitting_statistics(&chain, &[0]).unwrap().mean_if_reached(|_, _| 1.0);
        let mut last = vec![0.0; n];
        for gamma in [0.5, 0.9, 0.99, 0.9999, 1.0 - 1e-6] {
            let distances = ExactSolver::new(&chain, discount(gamma)).to_goal(0).unwrap();
            for state in 1..n {
                let steps = distances.steps(state);
                prop_assert!(steps >= last[state] * (1.0 - 1e-7), "steps grow with gamma");
                prop_assert!(steps <= expected[state] * (1.0 + 1e-7), "Jensen: {steps} > {}", expected[state]);
                last[state] = steps;
            }
        }
        for state in 1..n {
            assert_close(last[state], expected[state], 1e-3 * expected[state]);
        }
    }
}
