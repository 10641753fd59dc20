//! Estimates of hitting times by simulation, independent of the solvers.

use isochrone_core::{Discount, exact::TabularMdp, rng};
use rayon::prelude::*;

/// An estimate of `E[gamma^H]` from simulated trajectories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HittingEstimate {
    /// The sample mean of `gamma^H` (0 for trajectories truncated before the goal).
    pub mean: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
}

/// Simulates `rollouts` trajectories of a chain from `start` to `goal`.
///
/// Trajectories are truncated when `gamma^k` falls below `1e-12`, which biases the mean by less
/// than that. Rollout `i` draws from random stream `i` and sums are taken in order, so the result
/// does not depend on the number of threads. The standard error needs at least two rollouts.
pub fn estimate_hitting(
    chain: &TabularMdp,
    discount: Discount,
    start: usize,
    goal: usize,
    rollouts: u32,
    seed: u64,
) -> HittingEstimate {
    let horizon = (1e-12f64.ln() / discount.gamma().ln()).ceil() as u64;
    let samples: Vec<f64> = (0..u64::from(rollouts))
        .into_par_iter()
        .map(|rollout| {
            let mut rng = rng::stream(seed, rollout);
            let mut state = start;
            for step in 0..=horizon {
                if state == goal {
                    return (-discount.nats_per_step() * step as f64).exp();
                }
                state = sample_successor(chain, state, rng::unit_f64(&mut rng));
            }
            0.0
        })
        .collect();
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    HittingEstimate { mean, standard_error: (variance / n).sqrt() }
}

fn sample_successor(chain: &TabularMdp, state: usize, mut uniform: f64) -> usize {
    let row = chain.rows(state).next().expect("every state has a row");
    for (to, probability) in row.iter() {
        uniform -= probability;
        if uniform < 0.0 {
            return to;
        }
    }
    // The probabilities sum to one up to rounding: a draw above their sum selects the last
    // successor.
    row.successors[row.successors.len() - 1] as usize
}
