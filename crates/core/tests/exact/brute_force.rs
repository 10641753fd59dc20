//! Enumeration of all deterministic policies of small processes, each evaluated by a dense linear
//! solve.

use crate::support::{assert_close, discount, random_mdp};
use isochrone_core::exact::{ExactSolver, TabularMdp};

/// Returns `max_pi E_pi[gamma^H]` for every state, by enumeration.
fn best_over_policies(mdp: &TabularMdp, gamma: f64, goal: usize) -> Vec<f64> {
    let n = mdp.n_states();
    let n_actions: Vec<usize> = (0..n).map(|state| mdp.rows(state).count()).collect();
    let n_policies: usize = n_actions.iter().product();
    let mut best = vec![0.0f64; n];
    for mut code in 0..n_policies {
        let policy: Vec<usize> = n_actions
            .iter()
            .map(|&count| {
                let action = code % count;
                code /= count;
                action
            })
            .collect();
        for (state, h) in evaluate(mdp, gamma, goal, &policy).into_iter().enumerate() {
            best[state] = best[state].max(h);
        }
    }
    best
}

/// Solves `h = gamma P_pi h` with `h = 1` at the goal, by Gaussian elimination.
fn evaluate(mdp: &TabularMdp, gamma: f64, goal: usize, policy: &[usize]) -> Vec<f64> {
    let n = mdp.n_states();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|state| {
            let mut row = vec![0.0; n + 1];
            row[state] = 1.0;
            if state == goal {
                row[n] = 1.0;
            } else {
                mdp.action_row(state, policy[state]).unwrap().iter().for_each(|(to, p)| row[to] -= gamma * p);
            }
            row
        })
        .collect();
    for pivot in 0..n {
        let largest =
            (pivot..n).max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs())).unwrap();
        rows.swap(pivot, largest);
        let pivot_row = rows[pivot].clone();
        for (index, row) in rows.iter_mut().enumerate().filter(|&(index, _)| index != pivot) {
            let factor = row[pivot] / pivot_row[pivot];
            assert!(index < n && factor.is_finite());
            row.iter_mut().zip(&pivot_row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    (0..n).map(|state| rows[state][n] / rows[state][state]).collect()
}

#[test]
fn the_optimum_over_all_policies_is_found_on_200_random_processes() {
    for seed in 0..200 {
        let n_states = 2 + seed as usize % 4;
        let gamma = [0.5, 0.9, 0.97][seed as usize % 3];
        let mdp = random_mdp(seed, n_states, 3, 3);
        let solver = ExactSolver::new(&mdp, discount(gamma)).with_tolerance(1e-14);
        for goal in 0..n_states {
            let distances = solver.to_goal(goal).unwrap();
            let expected = best_over_policies(&mdp, gamma, goal);
            // Elimination leaves rounding errors where the goal is unreachable.
            let expected: Vec<f64> =
                expected.iter().map(|&h| if h > 1e-14 { -h.ln() } else { f64::INFINITY }).collect();
            for state in 0..n_states {
                assert_close(distances.nats(state), expected[state], 1e-12);
            }
            // The returned policy attains the optimum.
            let policy: Vec<usize> =
                (0..n_states).map(|state| distances.action(state).unwrap_or(0)).collect();
            for (state, h) in evaluate(&mdp, gamma, goal, &policy).into_iter().enumerate() {
                if distances.nats(state).is_finite() {
                    assert_close(-h.ln(), distances.nats(state), 1e-12);
                }
            }
        }
    }
}
