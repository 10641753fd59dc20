//! Asymmetric regression: expectiles and LINEX backups.

use super::Loss;
use burn::tensor::Tensor;

/// `mean |tau - 1(e < 0)| e^2` for the errors `e = target - prediction`: the minimiser is the `tau`-expectile of the target.
///
/// Kostrikov, Nair, Levine, "Offline Reinforcement Learning with Implicit Q-Learning" (2022). Targets are detached.
///
/// # Shapes
/// `predictions, targets: [n]`. Diagnostic: `mean_error`.
pub fn expectile(predictions: Tensor<1>, targets: Tensor<1>, tau: f32) -> Loss {
    let error = targets.detach() - predictions;
    let below = error.clone().detach().lower_scalar(0.0);
    let weight = error.zeros_like().add_scalar(tau).mask_fill(below, 1.0 - tau);
    Loss::new((weight * error.clone().square()).mean()).with("mean_error", error.mean())
}

/// Above this difference the exponential goes on as a straight line of slope 1, as in published code.
const LINEX_LARGEST: f32 = 3.0;

/// `mean [ gamma e^delta - delta ]` with `delta = d(s, g) - d(s', g)`, the second detached: the LINEX backup, whose minimiser
/// satisfies `e^(-d(s, g)) = gamma E[ e^(-d(s', g)) ]`.
///
/// It is linear beyond `delta = 3`, so that one bad pair cannot explode the gradient; the equation then holds as long as no
/// successor is more than 3 nats nearer than the state.
///
/// # Shapes
/// `distances, next_distances: [n]`. Diagnostic: `mean_delta`.
pub fn linex(distances: Tensor<1>, next_distances: Tensor<1>, gamma: f32) -> Loss {
    let delta = distances - next_distances.detach();
    let inside = delta.clone().clamp_max(LINEX_LARGEST);
    let beyond = delta.clone() - inside.clone();
    let value = (inside.clone().exp() * gamma - inside + beyond).mean();
    Loss::new(value).with("mean_delta", delta.mean())
}
