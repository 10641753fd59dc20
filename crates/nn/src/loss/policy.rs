//! Policy extraction losses.

use super::Loss;
use crate::group::ProcessGroup;
use burn::tensor::Tensor;

/// Advantage-weighted regression: `-mean min(e^(alpha A), max_weight) log pi(a|s, g)`.
///
/// Peng et al. (2019). The advantage `A` is how much closer to the goal than expected the dataset
/// action leads. It is detached.
///
/// # Shapes
/// `log_probs, advantages: [n]`. Diagnostics: `mean_weight`, `log_prob`.
pub fn awr(log_probs: Tensor<1>, advantages: Tensor<1>, alpha: f32, max_weight: f32) -> Loss {
    let weight = (advantages.detach() * alpha).clamp_max(max_weight.ln()).exp();
    Loss::new((weight.clone() * log_probs.clone()).mean().neg())
        .with("mean_weight", weight.mean())
        .with("log_prob", log_probs.mean())
}

/// Minimizes the distance to the goal from the state and the policy's action, regularized by
/// behavior cloning (DDPG+BC): `mean d((s, a_pi), g) / scale - bc_weight * mean log pi(a|s, g)`.
///
/// Fujimoto and Gu (2021). `scale` is the detached batch mean of `|d|`, so that `bc_weight` does
/// not depend on the scale of the distances; with a group, the mean over the rows of all processes.
///
/// # Shapes
/// `distances, log_probs: [n]`. Diagnostics: `distance`, `log_prob`.
pub fn ddpg_bc(
    distances: Tensor<1>,
    log_probs: Tensor<1>,
    bc_weight: f32,
    group: Option<&ProcessGroup>,
) -> Loss {
    let mean = distances.clone().mean();
    let mut scale = distances.abs().mean().detach();
    if let Some(group) = group {
        let mut of_all = [scale.clone().into_scalar::<f32>()];
        group.mean("policy scale", &mut of_all);
        scale = Tensor::from_data(of_all, &scale.device());
    }
    let scaled = mean.clone() / (scale + 1e-6);
    let cloned = log_probs.mean();
    Loss::new(scaled - cloned.clone() * bc_weight).with("distance", mean).with("log_prob", cloned)
}
