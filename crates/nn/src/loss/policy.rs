//! Policy extraction: a distance turned into actions.

use super::Loss;
use burn::tensor::Tensor;

/// Advantage-weighted regression: `-mean min(e^(alpha A), largest) log pi(a|s, g)`.
///
/// Peng et al. (2019). Advantages are detached: how much *closer* than expected the data action comes.
///
/// # Shapes
/// `log_probs, advantages: [n]`. Diagnostics: `mean_weight`, `log_prob`.
pub fn awr(log_probs: Tensor<1>, advantages: Tensor<1>, alpha: f32, largest_weight: f32) -> Loss {
    let weight = (advantages.detach() * alpha).clamp_max(largest_weight.ln()).exp();
    Loss::new((weight.clone() * log_probs.clone()).mean().neg())
        .with("mean_weight", weight.mean())
        .with("log_prob", log_probs.mean())
}

/// Descend the distance of the policy's own action, held to the data by cloning:
/// `mean d((s, a_pi), g) / scale - weight * mean log pi(a|s, g)`.
///
/// Fujimoto and Gu (2021). With `normalise`, `scale` is the detached batch mean of `|d|`, so that one `weight` fits all
/// distances; otherwise 1.
///
/// # Shapes
/// `distances, log_probs: [n]`. Diagnostics: `distance`, `log_prob`.
pub fn ddpg_bc(distances: Tensor<1>, log_probs: Tensor<1>, weight: f32, normalise: bool) -> Loss {
    let mean = distances.clone().mean();
    let scaled =
        if normalise { mean.clone() / (distances.abs().mean().detach() + 1e-6) } else { mean.clone() };
    let cloned = log_probs.mean();
    Loss::new(scaled - cloned.clone() * weight).with("distance", mean).with("log_prob", cloned)
}
