//! Goals solved together agree with goals solved alone and with dense linear algebra.

use crate::support::{discount, random_mdp};
use isochrone_core::{
    exact::{ExactSolver, GoalDistances, GridWorld, MdpBuilder, Method, SolveError, TabularMdp, certify},
    rng,
};

fn with_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(work)
}

/// A map with walls, arrows, a teleporter, and a room apart from the rest.
const MAP: &str = "
..........#.....
.##.###.#.#.###.
.#....#.#...#.#.
.#.##.#.###.#.#.
...#..#...#...#.
##.#.####.###.#.
....>.....#.....
.##.#.###.#.###1
.#..#.#...#.#...
.#.##.#.###.#.##
...#....1.#...<.
###############.
..............#.
";

fn map(slip: f64) -> TabularMdp {
    GridWorld::parse(MAP).unwrap().to_mdp(slip).unwrap()
}

/// Builds a process in two halves: the first can enter the second but not return. Its last state is
/// absorbing.
fn one_directional(seed: u64, half: usize, n_actions: usize) -> TabularMdp {
    let mut rng = rng::stream(seed, 0);
    let mut builder = MdpBuilder::new(2 * half + 1);
    for state in 0..2 * half {
        let first = if state < half { 0 } else { half };
        for action in 0..n_actions {
            for share in [0.5, 0.3, 0.2] {
                let to = first + rng::below(&mut rng, 2 * half + 1 - first);
                builder.transition(state, action, to, share);
            }
        }
    }
    builder.transition(2 * half, 0, 2 * half, 1.0);
    builder.build().unwrap()
}

fn processes() -> Vec<(String, TabularMdp)> {
    let mut all = Vec::new();
    for seed in 0..4 {
        // Five and nine actions fill more than one vector.
        for n_actions in [2, 4, 5, 9] {
            let name = format!("random, seed {seed}, {n_actions} actions");
            all.push((name, random_mdp(seed, 60, n_actions, 5)));
            let name = format!("one direction, seed {seed}, {n_actions} actions");
            all.push((name, one_directional(seed, 20, n_actions)));
        }
    }
    all.extend([0.05, 0.2, 0.6].map(|slip| (format!("map, slip {slip}"), map(slip))));
    all
}

fn every_goal(solver: &ExactSolver<'_>, n_states: usize) -> Vec<GoalDistances> {
    solver.map_goals(&(0..n_states).collect::<Vec<_>>(), |distances| distances).unwrap()
}

#[test]
fn batches_agree_with_single_goals_within_their_certificates() {
    for (name, mdp) in processes() {
        for gamma in [0.5, 0.9, 0.99, 0.9999] {
            let solver = ExactSolver::new(&mdp, discount(gamma));
            for (goal, batch) in every_goal(&solver, mdp.n_states()).into_iter().enumerate() {
                let what = format!("{name}, gamma {gamma}, goal {goal}");
                let single = solver.to_goal(goal).unwrap();
                let bound = batch.certificate().relative_error();
                assert!(bound <= 1e-9, "{what}: {bound:e}");
                let allowed = bound + single.certificate().relative_error() + 1e-15;
                for state in 0..mdp.n_states() {
                    let (a, b) = (batch.nats(state), single.nats(state));
                    assert!(a == b || (a - b).abs() <= allowed * b, "{what}, state {state}: {a} and {b}");
                    assert_eq!(batch.action(state).is_some(), single.action(state).is_some(), "{what}");
                }
                // The bound that comes with the result covers the one computed from the table.
                let recomputed = certify(&mdp, discount(gamma), &[goal], batch.all_nats());
                assert!(recomputed.residual_steps() <= 2.0 * bound + 1e-9, "{what}: {recomputed:?}");
            }
        }
    }
}

/// Solves a process by policy iteration with Gaussian elimination. Returns `h` by state.
fn dense_solution(mdp: &TabularMdp, gamma: f64, goal: usize) -> Vec<f64> {
    let n = mdp.n_states();
    let mut values = vec![0.0; n];
    values[goal] = 1.0;
    // Value iteration finds a policy that reaches the goal wherever one does.
    for _ in 0..200 {
        values = (0..n).map(|s| if s == goal { 1.0 } else { best(mdp, gamma, &values, s).0 }).collect();
    }
    for _ in 0..100 {
        let policy: Vec<usize> = (0..n).map(|state| best(mdp, gamma, &values, state).1).collect();
        let evaluated = evaluate(mdp, gamma, goal, &policy);
        let is_stable = evaluated.iter().zip(&values).all(|(new, old)| (new - old).abs() <= 1e-15 * new);
        values = evaluated;
        if is_stable {
            break;
        }
    }
    values
}

fn best(mdp: &TabularMdp, gamma: f64, values: &[f64], state: usize) -> (f64, usize) {
    let value =
        |row: isochrone_core::exact::Row<'_>| gamma * row.iter().map(|(to, p)| p * values[to]).sum::<f64>();
    let rows = mdp.rows(state).map(value).enumerate();
    rows.fold((0.0, 0), |best, (row, value)| if value > best.0 { (value, row) } else { best })
}

/// Solves `(I - gamma P) h = 0` off the goal and `h = 1` at the goal. The matrix is diagonally
/// dominant, so no pivoting is needed.
fn evaluate(mdp: &TabularMdp, gamma: f64, goal: usize, policy: &[usize]) -> Vec<f64> {
    let n = mdp.n_states();
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for state in 0..n {
        matrix[state][state] = 1.0;
        if state == goal {
            matrix[state][n] = 1.0;
            continue;
        }
        for (to, p) in mdp.rows(state).nth(policy[state]).unwrap().iter() {
            matrix[state][to] -= gamma * p;
        }
    }
    for pivot in 0..n {
        for row in pivot + 1..n {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            for column in pivot..=n {
                matrix[row][column] -= factor * matrix[pivot][column];
            }
        }
    }
    let mut values = vec![0.0; n];
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|column| matrix[row][column] * values[column]).sum();
        values[row] = (matrix[row][n] - known) / matrix[row][row];
    }
    values
}

#[test]
fn certificates_hold_against_dense_elimination() {
    for seed in 0..6 {
        for mdp in [random_mdp(seed, 40, 3, 4), one_directional(seed, 15, 4)] {
            for gamma in [0.9, 0.99, 0.999] {
                for tolerance in [1e-3, 1e-6, 1e-9] {
                    let solver = ExactSolver::new(&mdp, discount(gamma)).with_tolerance(tolerance);
                    for (goal, batch) in every_goal(&solver, mdp.n_states()).into_iter().enumerate() {
                        let certificate = batch.certificate();
                        assert!(certificate.relative_error() <= tolerance);
                        let truth = dense_solution(&mdp, gamma, goal);
                        for (state, value) in truth.into_iter().enumerate() {
                            let (lower, upper) = certificate.interval(batch.nats(state));
                            let nats = -value.ln();
                            let slack = 1e-12 * (1.0 + nats);
                            let holds = nats == lower || lower <= nats + slack && nats <= upper + slack;
                            assert!(holds, "seed {seed}, gamma {gamma}: {lower} <= {nats} <= {upper}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn batches_are_bit_identical_for_any_number_of_threads() {
    for mdp in [random_mdp(9, 150, 4, 5), map(0.3), one_directional(3, 40, 6)] {
        let solve = || every_goal(&ExactSolver::new(&mdp, discount(0.99)), mdp.n_states());
        let one = with_threads(1, solve);
        for n_threads in [2, 3] {
            for (a, b) in one.iter().zip(with_threads(n_threads, solve)) {
                let same = a.all_nats().iter().zip(b.all_nats()).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same && *a == b, "{n_threads} threads");
            }
        }
    }
}

#[test]
fn a_goal_does_not_depend_on_the_others_in_its_batch() {
    let mdp = map(0.2);
    let solver = ExactSolver::new(&mdp, discount(0.98));
    let all = every_goal(&solver, mdp.n_states());
    let some = solver.map_goals(&[7, 3, 7, 60], |distances| distances).unwrap();
    assert!(some[0] == all[7] && some[1] == all[3] && some[2] == all[7] && some[3] == all[60]);
}

#[test]
fn distances_beyond_the_range_of_doubles_are_solved_in_batches_too() {
    // 400 cells at ln(10) nats each and more.
    let mdp = GridWorld::parse(&".".repeat(400)).unwrap().to_mdp(0.1).unwrap();
    let solver = ExactSolver::new(&mdp, discount(0.1));
    let batch = solver.map_goals(&[0, 399], |distances| distances).unwrap();
    assert!(batch[0].nats(399) > 900.0);
    for (distances, goal) in batch.iter().zip([0, 399]) {
        assert!(distances.certificate().relative_error() <= 1e-9);
        assert!(*distances == solver.to_goal(goal).unwrap());
    }
}

#[test]
fn values_that_underflow_do_not_disturb_a_batch() {
    // A line of locks that open with a tiny chance, among states that mix.
    let mut builder = MdpBuilder::new(12);
    for state in 0..11 {
        builder.transition(state, 0, state + 1, 1e-120).transition(state, 0, 0, 1.0 - 1e-120);
        builder.transition(state, 1, (5 * state + 1) % (state + 1), 0.5).transition(state, 1, 0, 0.5);
    }
    builder.transition(11, 0, 0, 1.0).transition(11, 1, 3, 0.5).transition(11, 1, 7, 0.5);
    let mdp = builder.build().unwrap();
    let solver = ExactSolver::new(&mdp, discount(0.9));
    let batch = every_goal(&solver, 12);
    assert!(batch[11].nats(0) > 3000.0 && batch[0].nats(11) < 1.0);
    for (goal, batch) in batch.into_iter().enumerate() {
        let single = solver.to_goal(goal).unwrap();
        let allowed = batch.certificate().relative_error() + single.certificate().relative_error();
        assert!(allowed <= 2e-9, "goal {goal}: {allowed:e}");
        for (a, b) in batch.all_nats().iter().zip(single.all_nats()) {
            assert!((a - b).abs() <= (allowed + 1e-15) * b, "goal {goal}: {a} and {b}");
        }
    }
}

#[test]
fn slowly_mixing_processes_at_discounts_near_one_are_solved_in_batches() {
    let open = vec![".".repeat(24); 24].join("\n");
    for (slip, gamma) in [(0.6, 0.9999), (1.0, 0.99), (1.0, 0.99999)] {
        let mdp = GridWorld::parse(&open).unwrap().to_mdp(slip).unwrap();
        let solver = ExactSolver::new(&mdp, discount(gamma));
        for (goal, batch) in [0, 100, 300].into_iter().zip(solver.map_goals(&[0, 100, 300], |d| d).unwrap()) {
            let single = solver.to_goal(goal).unwrap();
            let allowed = batch.certificate().relative_error() + single.certificate().relative_error();
            assert!(allowed <= 2e-9, "slip {slip}, gamma {gamma}: {allowed:e}");
            for state in 0..mdp.n_states() {
                let (a, b) = (batch.nats(state), single.nats(state));
                assert!((a - b).abs() <= (allowed + 1e-15) * b, "slip {slip}, gamma {gamma}: {a} and {b}");
            }
        }
    }
}

#[test]
fn chains_and_trivial_batches_are_solved() {
    let chain = random_mdp(2, 50, 1, 4);
    let by_lu = ExactSolver::new(&chain, discount(0.97)).all_pairs().unwrap();
    let swept = ExactSolver::new(&chain, discount(0.97)).with_method(Method::PolicyIteration).unwrap();
    let swept = swept.all_pairs().unwrap();
    for goal in 0..50 {
        for (a, b) in swept.to_goal(goal).iter().zip(by_lu.to_goal(goal)) {
            assert!(a == b || (a - b).abs() <= 2e-9 * b, "{a} and {b}");
        }
    }
    let solver = ExactSolver::new(&chain, discount(0.97)).with_method(Method::PolicyIteration).unwrap();
    assert!(solver.map_goals(&[], |d| d).unwrap().is_empty());
    assert_eq!(
        solver.map_goals(&[0, 50], |d| d).unwrap_err(),
        SolveError::GoalOutOfRange { goal: 50, n_states: 50 }
    );
    // No state but the goal reaches it.
    let mut builder = MdpBuilder::new(2);
    builder.transition(0, 0, 0, 1.0).transition(1, 0, 1, 0.5).transition(1, 0, 1, 0.5);
    let islands = builder.build().unwrap();
    let solver = ExactSolver::new(&islands, discount(0.9)).with_method(Method::PolicyIteration).unwrap();
    for (goal, distances) in solver.map_goals(&[0, 1], |d| d).unwrap().into_iter().enumerate() {
        assert_eq!((distances.nats(goal), distances.nats(1 - goal)), (0.0, f64::INFINITY));
    }
}
