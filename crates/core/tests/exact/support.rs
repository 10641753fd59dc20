//! Random processes, and a reference solver that shares no code with the tested ones.

use isochrone_core::{
    Discount,
    exact::{MdpBuilder, TabularMdp},
    rng,
};

pub fn discount(gamma: f64) -> Discount {
    Discount::new(gamma).unwrap()
}

/// Builds a random process in which each action has one to `max_successors` successors with random
/// probabilities.
pub fn random_mdp(seed: u64, n_states: usize, n_actions: usize, max_successors: usize) -> TabularMdp {
    let mut rng = rng::stream(seed, 0);
    let mut builder = MdpBuilder::new(n_states);
    for state in 0..n_states {
        for action in 0..n_actions {
            let count = 1 + rng::below(&mut rng, max_successors);
            let shares: Vec<f64> = (0..count).map(|_| 0.05 + rng::unit_f64(&mut rng)).collect();
            let total: f64 = shares.iter().sum();
            for share in shares {
                builder.transition(state, action, rng::below(&mut rng, n_states), share / total);
            }
        }
    }
    builder.build().unwrap()
}

/// Builds a directed graph: action `k` of a node follows its `k`-th distinct edge. A node without
/// outgoing edges is absorbing.
pub fn graph(n_states: usize, mut edges: Vec<(usize, usize)>) -> TabularMdp {
    edges.sort_unstable();
    edges.dedup();
    let mut builder = MdpBuilder::new(n_states);
    for node in 0..n_states {
        let mut successors: Vec<usize> =
            edges.iter().filter(|edge| edge.0 == node).map(|edge| edge.1).collect();
        if successors.is_empty() {
            successors.push(node);
        }
        for (action, to) in successors.into_iter().enumerate() {
            builder.transition(node, action, to, 1.0);
        }
    }
    builder.build().unwrap()
}

/// Computes distances by value iteration in log space until convergence: slow and simple, without
/// underflow.
pub fn reference_nats(mdp: &TabularMdp, gamma: f64, goal: usize) -> Vec<f64> {
    let step = -gamma.ln();
    let mut nats = vec![f64::INFINITY; mdp.n_states()];
    nats[goal] = 0.0;
    for _ in 0..1_000_000 {
        let next: Vec<f64> = (0..mdp.n_states())
            .map(|state| if state == goal { 0.0 } else { step + best_continuation(mdp, state, &nats) })
            .collect();
        let converged = next.iter().zip(&nats).all(|(a, b)| a == b || (a - b).abs() < 1e-15 * a.abs());
        nats = next;
        if converged {
            return nats;
        }
    }
    panic!("value iteration did not converge");
}

fn best_continuation(mdp: &TabularMdp, state: usize, nats: &[f64]) -> f64 {
    mdp.rows(state)
        .map(|row| {
            let nearest = row.iter().map(|(to, _)| nats[to]).fold(f64::INFINITY, f64::min);
            if nearest.is_infinite() {
                return f64::INFINITY;
            }
            nearest - row.iter().map(|(to, p)| p * (nearest - nats[to]).exp()).sum::<f64>().ln()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Asserts equality within an absolute error; infinities are equal only to themselves.
#[track_caller]
pub fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    let close = actual == expected || (actual - expected).abs() <= tolerance;
    assert!(close, "{actual} should be {expected} within {tolerance:e}, is off by {:e}", actual - expected);
}
