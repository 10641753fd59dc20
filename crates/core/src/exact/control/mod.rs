//! Stochastic control: policy iteration, marched outward from the goal.
//!
//! Values propagate from a goal against the transitions. Jacobi iteration propagates them by one
//! transition per sweep. Gauss-Seidel sweeps in breadth-first order propagate them through all
//! states in one sweep, but ignore transitions away from the goal at first; the error of every
//! layer affects the next, and a correction needs many sweeps to reach the farthest layer.
//! [`march`] therefore sweeps a window of layers that moves outward one layer at a time, so that a
//! layer has converged before farther layers depend on it. Two or three marches replace hundreds of
//! sweeps.
//!
//! The marches run on a renumbered, rescaled copy of the process ([`system`]). If the process mixes
//! well, there are few layers and the error is one slow mode shared by all states. If noise
//! dominates, values depend on more layers than a window contains. In both cases the linear system
//! of the policy is solved for the correction instead ([`newton`]).

mod march;
mod newton;
mod policy;
mod system;

use super::{
    certificate::certify, mdp::TabularMdp, method::Method, result::GoalDistances, reverse::ReverseSearch,
};
use crate::Discount;
pub(super) use newton::relative_errors;
pub(super) use policy::PolicySystem;
use system::System;

/// The number of layers in the window of the first march. Measured on grids with walls and slip 0.1
/// to 0.5: 16 is fastest at low noise and almost as fast as larger windows at high noise.
const FIRST_WINDOW: usize = 16;
/// The window doubles up to this size while marches reduce the change by less than [`GOOD_GAIN`].
const MAX_WINDOW: usize = 64;
/// A march that reduces the change by this factor is repeated with the same window.
const GOOD_GAIN: f64 = 0.1;
/// The number of rounds after which the current result is returned with its bound.
const MAX_ROUNDS: usize = 300;
/// The number of residual checks without progress after which the remaining residual is attributed
/// to rounding.
const MAX_STALLED_CHECKS: usize = 3;
/// The number of rounds between a failed Newton step and the next one.
const NEWTON_PAUSE: usize = 8;

/// Computes the distances to the goals at the front of `search`, with every relative error below
/// `tolerance` if rounding allows it.
pub(super) fn solve(
    mdp: &TabularMdp,
    search: ReverseSearch,
    n_goals: usize,
    discount: Discount,
    tolerance: f64,
) -> GoalDistances {
    let target = tolerance / (1.0 + tolerance) * discount.nats_per_step();
    let goals: Vec<usize> = search.order[..n_goals].iter().map(|&goal| goal as usize).collect();
    let mut system = System::new(mdp, search, n_goals, discount);
    iterate(&mut system, target);
    let (nats, policy) = system.into_result();
    // The certificate is computed from the returned table, not from the state of the iteration.
    let certificate = certify(mdp, discount, &goals, &nats);
    GoalDistances { discount, nats, policy, certificate, method: Method::PolicyIteration }
}

/// Iterates until the Bellman residual (in nats) is at most `target`, or cannot be reduced.
fn iterate(system: &mut System<'_>, target: f64) {
    march::first(system, FIRST_WINDOW);
    let mut window = FIRST_WINDOW;
    let (mut last_change, mut best_residual) = (1.0, f64::INFINITY);
    let (mut stalled_checks, mut newton_allowed_from) = (0, 0);
    for round in 0..MAX_ROUNDS {
        let change = march::again(system, window);
        let has_settled = change <= (0.5 * target).max(4.0 * f64::EPSILON);
        if has_settled && !system.is_clipped {
            let residual = system.residual();
            stalled_checks = if residual < 0.5 * best_residual { 0 } else { stalled_checks + 1 };
            best_residual = best_residual.min(residual);
            if residual <= target || stalled_checks == MAX_STALLED_CHECKS {
                return;
            }
        }
        system.keep_in_range();
        if change > GOOD_GAIN * last_change {
            let is_widest = window >= MAX_WINDOW.min(system.n_layers());
            window = (2 * window).min(MAX_WINDOW);
            if is_widest && round >= newton_allowed_from && !newton::step(system, target) {
                newton_allowed_from = round + NEWTON_PAUSE;
            }
        }
        last_change = change;
    }
}
