//! Regression of distances in steps.

use super::Loss;
use burn::tensor::Tensor;

/// Absolute errors are counted in units of so many steps.
const UNIT_STEPS: f32 = 50.0;
/// Where errors, in their unit, begin to count by their size instead of their square.
const CORNER: f32 = 0.2;

/// Errors of distances `d` from targets `t`, relative where they are short and absolute where they are long:
///
/// `sum_i w_i [ H((d_i - t_i) / (t_i + 1)) + H((d_i - t_i) / 50) ]`
///
/// `H` is Huber's function with its corner at 0.2 and a slope of 1. The first term alone blurs long distances,
/// the second alone short ones. Targets and weights are detached.
///
/// # Shapes
/// `distances, targets, weights: [n]`. Diagnostic: `absolute_error`, the weighted mean of `|d - t|`.
pub fn step_regression(distances: Tensor<1>, targets: Tensor<1>, weights: Tensor<1>) -> Loss {
    let (targets, weights) = (targets.detach(), weights.detach());
    let error = (distances - targets.clone()).abs();
    let relative = huber(error.clone() / (targets + 1.0));
    let absolute = huber(error.clone() / UNIT_STEPS);
    Loss::new(((relative + absolute) * weights.clone()).sum()).with("absolute_error", (error * weights).sum())
}

/// Of errors that are not negative.
fn huber(error: Tensor<1>) -> Tensor<1> {
    let near = error.clone().clamp_max(CORNER);
    near.clone().square() / (2.0 * CORNER) + (error - near)
}
