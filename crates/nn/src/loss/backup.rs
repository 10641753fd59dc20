//! Backups of distances: from the distance of a later state to that of an earlier one.

use super::Loss;
use burn::tensor::{Tensor, activation::relu};
use serde::{Deserialize, Serialize};

/// Settings of [`linex_backup`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackupConfig {
    /// The weight of the goals that belong to their rows; the rest is that of all pairs.
    pub diagonal_weight: f64,
    /// The error in nats above which the loss is linear with slope 1.
    pub threshold: f64,
}

impl Default for BackupConfig {
    fn default() -> Self {
        Self { diagonal_weight: 0.5, threshold: 3.0 }
    }
}

/// Returns the LINEX loss of the Bellman equation of `e^(-d)`:
///
/// `linex(d_ij - stop[d'_ij] + log_discount_i)   with   linex(u) = e^u - u - 1`
///
/// The mean over outcomes is zero in its gradient where `e^(-d) = E[discount e^(-d')]`, also if the
/// next state is random. Above the threshold, the exponential is continued with slope 1, which
/// bounds the gradient. Myers et al., "Offline Goal-conditioned Reinforcement Learning with
/// Quasimetric Representations" (2025); published code drops the terms without gradient.
///
/// Diagnostics: `diagonal`, the mean over matches; `mean_distance`.
///
/// # Shapes
/// `distances, next: [n, m]`, `log_discounts: [n, 1]`; the match of row `i` is column
/// `first_match + i`, where `first_match` is 0 and `m = n` unless the columns are those of several
/// processes.
pub fn linex_backup(
    config: BackupConfig,
    distances: Tensor<2>,
    next: Tensor<2>,
    log_discounts: Tensor<2>,
    first_match: usize,
) -> Loss {
    let [n, _] = distances.dims();
    let error = distances.clone() - next.detach() + log_discounts;
    let losses = linex(error, config.threshold);
    let matches = losses.clone().narrow(1, first_match, n) * Tensor::eye(n, &losses.device());
    let (all, diagonal) = (losses.mean(), matches.sum() / n as f32);
    let share = config.diagonal_weight;
    Loss::new(all * (1.0 - share) + diagonal.clone() * share)
        .with("diagonal", diagonal)
        .with("mean_distance", distances.mean())
}

/// Returns `e^u - u - 1`, continued with slope 1 above the threshold.
fn linex(error: Tensor<2>, threshold: f64) -> Tensor<2> {
    let near = error.clone().clamp_max(threshold);
    near.clone().exp() - near - 1.0 + relu(error - threshold)
}
