//! Contrastive losses: which goal belongs to which state?
//!
//! The logits are `f_ij = c(g_j) - scale * d(x_i, y_j)` for a distance, `c(g_j) + scale * x_i . y_j` for an inner product, and
//! the positives are the pairs `(x_i, y_i)`. At the optimum `f = log p(g|s) - log p(g)` up to a constant, hence the successor
//! distance, if future offsets are drawn from a geometric law that includes 0.

use super::Loss;
use crate::{
    kernel::{Objective, STATISTICS},
    module::PairHead,
    op::{self, ContrastSpec, chunked_contrast},
};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Along which side of the matrix of logits the softmax runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Both, added. With a potential, this identifies the distance.
    #[default]
    Symmetric,
    /// Over goals, for each state. Leaves a free term per state.
    Forward,
    /// Over states, for each goal. Leaves a free term per goal, which `d(g, g) = 0` fixes.
    Backward,
}

/// Softmax cross-entropy (van den Oord et al., 2018).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InfoNce {
    /// Rows, columns or both.
    pub direction: Direction,
    /// Weight of the mean squared log-sum-exp; 0 for none, 0.01 in published CMD code.
    pub logsumexp_penalty: f32,
}

impl InfoNce {
    fn objective(self) -> Objective {
        Objective::InfoNce {
            forward: self.direction != Direction::Backward,
            backward: self.direction != Direction::Forward,
            penalty: self.logsumexp_penalty,
        }
    }
}

/// How values become logits.
#[derive(Clone, Debug)]
pub struct ContrastiveOptions {
    /// Factor of the distance or the product; 1 means that distances are in nats.
    pub scale: f32,
    /// `c(g_j)`, `[n]`; none is zero.
    pub potential: Option<Tensor<1>>,
}

impl Default for ContrastiveOptions {
    fn default() -> Self {
        Self { scale: 1.0, potential: None }
    }
}

/// InfoNCE over all pairs of latent rows `x, y: [n, width]`.
///
/// The matrix of logits is held only up to a size at which that is faster; above it, both passes work in blocks of rows.
/// Diagnostics: `forward_nll`, `backward_nll`, `accuracy` (the positive has the largest logit of its row), `positive_value`,
/// `mean_value`.
pub fn infonce(
    infonce: InfoNce,
    head: &PairHead,
    x: Tensor<2>,
    y: Tensor<2>,
    options: ContrastiveOptions,
) -> Loss {
    of_pairs(infonce.objective(), head, x, y, options)
}

/// Mean binary cross-entropy over all pairs of latent rows `x, y: [n, width]`, as [`infonce`].
pub fn binary_nce(head: &PairHead, x: Tensor<2>, y: Tensor<2>, options: ContrastiveOptions) -> Loss {
    of_pairs(Objective::BinaryNce, head, x, y, options)
}

/// InfoNCE of given logits `[n, n]`; diagnostics as [`infonce`].
pub fn infonce_of_logits(infonce: InfoNce, logits: Tensor<2>) -> Loss {
    let [n, m] = logits.dims();
    assert_eq!(n, m, "positives are on the diagonal of a square of logits");
    let potential = Tensor::zeros([n], &logits.device());
    of_statistics(chunked_contrast::statistics_of_logits(1.0, infonce.objective(), logits, potential))
}

fn of_pairs(
    objective: Objective,
    head: &PairHead,
    x: Tensor<2>,
    y: Tensor<2>,
    options: ContrastiveOptions,
) -> Loss {
    let form = head.form();
    let potential = options.potential.unwrap_or_else(|| Tensor::zeros([x.dims()[0]], &x.device()));
    let spec = ContrastSpec { form, slope: form.logit_sign() * options.scale, objective };
    let mix = head.mix(&x);
    of_statistics(op::contrast(spec, x, y, potential, mix))
}

fn of_statistics(statistics: Tensor<1>) -> Loss {
    let at = |index| statistics.clone().narrow(0, index, 1);
    let loss = Loss::new(at(0));
    (1..STATISTICS.len()).fold(loss, |loss, index| loss.with(STATISTICS[index], at(index)))
}
