//! Asymmetric regression.

use super::Loss;
use burn::tensor::Tensor;

/// `mean |tau - 1(e < 0)| e^2` for the errors `e = target - prediction`: the minimizer is the
/// `tau`-expectile of the target.
///
/// Kostrikov, Nair, Levine, "Offline Reinforcement Learning with Implicit Q-Learning" (2022).
/// Targets are detached.
///
/// # Shapes
/// `predictions, targets: [n]`. Diagnostic: `mean_error`.
pub fn expectile(predictions: Tensor<1>, targets: Tensor<1>, tau: f32) -> Loss {
    let error = targets.detach() - predictions;
    let below = error.clone().detach().lower_scalar(0.0);
    let weight = error.zeros_like().add_scalar(tau).mask_fill(below, 1.0 - tau);
    Loss::new((weight * error.clone().square()).mean()).with("mean_error", error.mean())
}
