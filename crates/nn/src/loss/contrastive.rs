//! Contrastive losses over pairs of states and goals.
//!
//! The logits are `f_ij = c(g_j) - scale * d(x_i, y_j)` for a distance,
//! `c(g_j) + scale * x_i . y_j` for an inner product, and the positives are the pairs `(x_i, y_i)`.
//! At the optimum `f = log p(g|s) - log p(g)` up to a constant, which gives the successor distance
//! if future offsets are drawn from a geometric distribution that includes 0.

use super::Loss;
use crate::{
    group::ProcessGroup,
    kernel::{Objective, STATISTICS},
    module::PairHead,
    op::{self, ContrastSpec, chunked_contrast},
};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The dimensions of the logits matrix over which the softmax is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Over both, with the losses added. With a potential, this identifies the distance.
    #[default]
    Symmetric,
    /// Over goals, for each state. A term per state remains undetermined.
    Forward,
    /// Over states, for each goal. A term per goal remains undetermined, until `d(g, g) = 0` fixes
    /// it.
    Backward,
}

/// Settings of InfoNCE, a softmax cross-entropy (van den Oord et al., 2018).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InfoNce {
    /// The softmax over rows, columns or both.
    pub direction: Direction,
    /// The weight of the mean squared log-sum-exp; 0 disables it, and published CMD code uses 0.01.
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

/// The conversion of values to logits.
#[derive(Clone, Debug)]
pub struct ContrastiveOptions {
    /// The factor of the distance or the product; with 1, distances are in nats.
    pub scale: f32,
    /// `c(g_j)`, `[n]`; zero if `None`.
    pub potential: Option<Tensor<1>>,
    /// The processes whose rows are negatives too. The loss and its diagnostics are then those of
    /// this process; their means over the group are those of all rows.
    pub group: Option<ProcessGroup>,
}

impl Default for ContrastiveOptions {
    fn default() -> Self {
        Self { scale: 1.0, potential: None, group: None }
    }
}

/// Returns InfoNCE over all pairs of latent rows `x, y: [n, width]`.
///
/// The matrix of logits is stored only up to the size at which that is faster; above it, both
/// passes work in blocks of rows. Diagnostics: `forward_nll`, `backward_nll`, `accuracy` (the
/// positive has the largest logit of its row), `positive_value`, `mean_value`.
pub fn infonce(
    infonce: InfoNce,
    head: &PairHead,
    x: Tensor<2>,
    y: Tensor<2>,
    options: ContrastiveOptions,
) -> Loss {
    of_pairs(infonce.objective(), head, x, y, options)
}

/// Returns the mean binary cross-entropy over all pairs of latent rows `x, y: [n, width]`;
/// diagnostics as in [`infonce`].
pub fn binary_nce(head: &PairHead, x: Tensor<2>, y: Tensor<2>, options: ContrastiveOptions) -> Loss {
    of_pairs(Objective::BinaryNce, head, x, y, options)
}

/// Returns InfoNCE of given logits `[n, n]`; diagnostics as in [`infonce`].
pub fn infonce_of_logits(infonce: InfoNce, logits: Tensor<2>) -> Loss {
    let [n, m] = logits.dims();
    assert_eq!(n, m, "the positives are on the diagonal of a square matrix of logits");
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
    let (x, y) = head.sides(x, y);
    of_statistics(match &options.group {
        None => op::contrast(spec, x, y, potential, mix),
        Some(group) => {
            let (y, potential) = gather_columns(group, y, potential);
            op::contrast_among(spec, group, x, y, potential, mix)
        }
    })
}

/// Returns the latent goals and the potentials of all processes, sent in one message.
fn gather_columns(group: &ProcessGroup, y: Tensor<2>, potential: Tensor<1>) -> (Tensor<2>, Tensor<1>) {
    let [n, width] = y.dims();
    let all = op::gather_rows(group, Tensor::cat(vec![y, potential.reshape([n, 1])], 1));
    let m = n * group.size();
    (all.clone().narrow(1, 0, width), all.narrow(1, width, 1).reshape([m]))
}

fn of_statistics(statistics: Tensor<1>) -> Loss {
    let at = |index| statistics.clone().narrow(0, index, 1);
    let loss = Loss::new(at(0));
    (1..STATISTICS.len()).fold(loss, |loss, index| loss.with(STATISTICS[index], at(index)))
}
