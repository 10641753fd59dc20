//! Quasimetric reinforcement learning (QRL): distances are maximized subject to local constraints.
//!
//! Wang, Torralba, Isola, Zhang, "Optimal Goal-Reaching Reinforcement Learning via Quasimetric
//! Learning" (2023).

use super::Loss;
use crate::op::chunked_contrast::softplus;
use burn::tensor::{Tensor, activation::relu};

/// Returns `mean softplus_beta(offset - d)`, which increases the distances of random pairs, with a
/// gradient that vanishes for large distances.
///
/// `softplus_beta(x) = ln(1 + e^(beta x)) / beta`; published values: offset 500, beta 0.01,
/// distances in steps.
///
/// # Shapes
/// `distances: [n]`. Diagnostic: `mean_distance`.
pub fn qrl_spread(distances: Tensor<1>, offset: f32, beta: f32) -> Loss {
    let scaled = (distances.clone().neg() + offset) * beta;
    Loss::new((softplus(scaled) / beta).mean()).with("mean_distance", distances.mean())
}

/// Returns `mean max(0, d(s, s') - cost)^2` over dataset transitions: the distance of one step must
/// not exceed its cost.
///
/// The constraint `<= eps^2` (published: 0.05 squared) is enforced by a [`Dual`](super::Dual):
/// minimize `spread + lambda * constraint`.
///
/// # Shapes
/// `step_distances: [n]`. Diagnostic: `violation`, the value itself.
pub fn local_constraint(step_distances: Tensor<1>, step_cost: f32) -> Loss {
    let value = relu(step_distances - step_cost).square().mean();
    Loss::new(value.clone()).with("violation", value)
}

/// Returns the continuity hinge `mean max(0, (d(s, g) - d(s', g))^2 - step^2)`: one step changes
/// the distance to any goal by at most one step.
///
/// # Shapes
/// `here, next: [n]`, the distances of both states of a transition to the same goal.
pub fn continuity(here: Tensor<1>, next: Tensor<1>, step: f64) -> Loss {
    Loss::new(relu((here - next).square() - step * step).mean())
}
