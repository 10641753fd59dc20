//! Distillation of a contrastive critic into a quasimetric (CMD-2).

use super::Loss;
use crate::op;
use burn::tensor::{Tensor, activation::relu};

/// Returns the distances that a contrastive critic `f = phi(s)^T psi(g)` implies:
/// `T_ij = f(g_j, g_j) - f(s_i, g_j) = (phi(g_j) - phi(s_i))^T psi(g_j)`.
///
/// # Shapes
/// `phi_states: [n, width]`, `phi_goals, psi_goals: [m, width]` give `[n, m]`.
pub fn contrastive_targets(phi_states: Tensor<2>, phi_goals: Tensor<2>, psi_goals: Tensor<2>) -> Tensor<2> {
    let at_goal = (phi_goals * psi_goals.clone()).sum_dim(1).transpose();
    at_goal - op::inner_products(phi_states, psi_goals)
}

/// Returns the loss that distills the targets `T` into the distances `d`, balanced by the
/// multiplier `lambda > 0`:
///
/// `lambda^(-1/2) * mean_ij max(0, T_ij - d_ij)^2 + lambda^(1/2) * mean_i max(0, d_ii - T_ii)^2`
///
/// The first term raises every distance to its target; the second, on matched pairs, is the
/// constraint `mean_i max(0, d_ii - T_ii)^2 <= margin` whose multiplier is `lambda`. Dividing the
/// Lagrangian by the root of `lambda` keeps the step size when `lambda` grows. Targets are
/// detached. Diagnostics: `raise` (first mean), `violation` (second mean), the argument of
/// [`Dual::update`](super::Dual::update).
///
/// # Shapes
/// `distances, targets: [n, m]`; the match of row `i` is column `first_match + i`, where
/// `first_match` is 0 and `m = n` unless the columns are those of several processes.
pub fn distill(distances: Tensor<2>, targets: Tensor<2>, first_match: usize, lambda: f64) -> Loss {
    let targets = targets.detach();
    let [n, _] = distances.dims();
    let raise = relu(targets.clone() - distances.clone()).square().mean();
    let matches = |all: Tensor<2>| all.narrow(1, first_match, n);
    let diagonal = Tensor::<2>::eye(n, &distances.device());
    let violation = (relu(matches(distances) - matches(targets)).square() * diagonal).sum() / n as f32;
    let root = lambda.sqrt();
    Loss::new(raise.clone() / root + violation.clone() * root)
        .with("raise", raise)
        .with("violation", violation)
}
