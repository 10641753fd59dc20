//! Regression of distances in steps.

use super::Loss;
use burn::tensor::Tensor;

/// The unit of absolute errors, in steps.
const UNIT_STEPS: f32 = 50.0;
/// The threshold, in units of the error, at which Huber's function changes from quadratic to
/// linear.
const THRESHOLD: f32 = 0.2;

/// Returns a regression loss of distances `d` to targets `t` with a relative and an absolute term:
///
/// `sum_i w_i [ H((d_i - t_i) / (t_i + 1)) + H((d_i - t_i) / 50) ]`
///
/// `H` is Huber's function with threshold 0.2 and slope 1. The first term alone makes long
/// distances inaccurate, the second alone short ones. Targets and weights are detached.
///
/// # Shapes
/// `distances, targets, weights: [n]`. Diagnostic: `absolute_error`, the weighted mean of `|d -
/// t|`.
pub fn step_regression(distances: Tensor<1>, targets: Tensor<1>, weights: Tensor<1>) -> Loss {
    let (targets, weights) = (targets.detach(), weights.detach());
    let error = (distances - targets.clone()).abs();
    let relative = huber(error.clone() / (targets + 1.0));
    let absolute = huber(error.clone() / UNIT_STEPS);
    Loss::new(((relative + absolute) * weights.clone()).sum()).with("absolute_error", (error * weights).sum())
}

/// Huber's function of non-negative errors.
fn huber(error: Tensor<1>) -> Tensor<1> {
    let near = error.clone().clamp_max(THRESHOLD);
    near.clone().square() / (2.0 * THRESHOLD) + (error - near)
}
