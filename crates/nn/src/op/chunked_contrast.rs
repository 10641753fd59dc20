//! Contrastive losses by tensor operations, for backends without kernels.
//!
//! [`differentiable`] stores the full matrix of logits and is differentiated by Burn. [`forward`]
//! and [`backward`] store one block of its rows at a time, with running log-sum-exps of the
//! columns.

use super::chunked;
use crate::kernel::{Objective, PairForm};
use burn::tensor::{Bool, Tensor, TensorData, activation};

/// The definition of a contrastive loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContrastSpec {
    /// The form of the pairs.
    pub form: PairForm,
    /// The factor of the value in a logit, with its sign: `f_ij = potential_j + slope * value_ij`.
    pub slope: f32,
    /// The objective on the logits.
    pub objective: Objective,
}

/// The number of rows of logits that are stored at once.
const BLOCK: usize = 1024;

/// Returns the statistics `[6]`, computed from the full matrix.
pub fn differentiable(
    spec: ContrastSpec,
    x: Tensor<2>,
    y: Tensor<2>,
    potential: Tensor<1>,
    mix: Tensor<1>,
) -> Tensor<1> {
    let values = chunked::differentiable(spec.form, x, y, mix);
    statistics_of_logits(spec.slope, spec.objective, values, potential)
}

/// Returns the statistics `[6]` of the logits `f_ij = potential_j + slope * value_ij`. The first,
/// the loss, is differentiable.
pub(crate) fn statistics_of_logits(
    slope: f32,
    objective: Objective,
    values: Tensor<2>,
    potential: Tensor<1>,
) -> Tensor<1> {
    let logits = values.clone() * slope + potential.unsqueeze();
    let [n, _] = logits.dims();
    // Masked, not multiplied by 0: a logit of -inf, which excludes a pair, would become NaN.
    let others = Tensor::<2, Bool>::diag_mask([n, n], 0, &logits.device());
    let positive = logits.clone().mask_fill(others.clone(), 0.0).sum_dim(1).reshape([n]);
    let rows = log_sum_exp(logits.clone(), 1).reshape([n]);
    let columns = log_sum_exp(logits.clone(), 0).reshape([n]);
    let sums = Sums {
        wins: wins(logits.clone().detach(), positive.clone().detach()),
        positive_value: values.clone().mask_fill(others, 0.0).sum().detach(),
        value: values.sum().detach(),
        binary: softplus(logits).sum() - positive.clone().sum(),
    };
    sums.statistics(objective, [rows, columns, positive])
}

/// Returns the statistics `[6]` and the log-sum-exps `[n]` of rows and columns.
pub fn forward(
    spec: ContrastSpec,
    x: Tensor<2>,
    y: Tensor<2>,
    potential: Tensor<1>,
    mix: Tensor<1>,
) -> (Tensor<1>, Tensor<1>, Tensor<1>) {
    let [n, _] = x.dims();
    let device = x.device();
    let (mut rows, mut positives) = (Vec::new(), Vec::new());
    let mut largest = Tensor::<2>::full([1, n], f32::MIN, &device);
    let mut sum = Tensor::<2>::zeros([1, n], &device);
    let mut sums = Sums::zero(&potential);
    for block in blocks(n) {
        let (values, logits) = logits_of_block(spec, &x, &y, &potential, &mix, block);
        let [count, _] = logits.dims();
        let positive = diagonal_of_block(logits.clone(), block.0);
        sums.wins = sums.wins + wins(logits.clone(), positive.clone());
        sums.positive_value = sums.positive_value + diagonal_of_block(values.clone(), block.0).sum();
        sums.value = sums.value + values.sum();
        if spec.objective == Objective::BinaryNce {
            sums.binary = sums.binary + softplus(logits.clone()).sum() - positive.clone().sum();
        }
        rows.push(log_sum_exp(logits.clone(), 1).reshape([count]));
        positives.push(positive);
        let next = largest.clone().max_pair(logits.clone().max_dim(0));
        sum = sum * (largest - next.clone()).exp() + (logits - next.clone()).exp().sum_dim(0);
        largest = next;
    }
    let (rows, positive) = (Tensor::cat(rows, 0), Tensor::cat(positives, 0));
    let columns = (largest + sum.log()).reshape([n]);
    (sums.statistics(spec.objective, [rows.clone(), columns.clone(), positive]), rows, columns)
}

/// Returns the gradients of `x`, `y`, `potential` and the mix, given that of the statistics, of
/// which only the first is used.
#[expect(clippy::too_many_arguments, reason = "the inputs, the record and the gradient of one operation")]
pub fn backward(
    spec: ContrastSpec,
    gradient: Tensor<1>,
    x: Tensor<2>,
    y: Tensor<2>,
    potential: Tensor<1>,
    mix: Tensor<1>,
    rows: Tensor<1>,
    columns: Tensor<1>,
) -> (Tensor<2>, Tensor<2>, Tensor<1>, Tensor<1>) {
    let [n, _] = x.dims();
    let upstream = gradient.narrow(0, 0, 1);
    let columns = columns.reshape([1, n]);
    let (mut dx, mut dy) = (Vec::new(), y.zeros_like());
    let (mut dpotential, mut dmix) = (potential.zeros_like(), mix.zeros_like());
    for (start, count) in blocks(n) {
        let (_, logits) = logits_of_block(spec, &x, &y, &potential, &mix, (start, count));
        let positive = block_of_identity(count, n, start, &logits);
        let of_logits = match spec.objective {
            Objective::InfoNce { forward, backward, penalty } => {
                let mut sum = logits.zeros_like();
                if forward {
                    let rows = rows.clone().narrow(0, start, count).reshape([count, 1]);
                    let weight = rows.clone() * (2.0 * penalty) + 1.0;
                    sum = sum + (logits.clone() - rows).exp() * weight - positive.clone();
                }
                if backward {
                    let weight = columns.clone() * (2.0 * penalty) + 1.0;
                    sum = sum + (logits - columns.clone()).exp() * weight - positive;
                }
                sum / n as f32
            }
            Objective::BinaryNce => (activation::sigmoid(logits) - positive) / (n as f32 * n as f32),
        };
        let of_logits = of_logits * upstream.clone().reshape([1, 1]);
        dpotential = dpotential + of_logits.clone().sum_dim(0).reshape([n]);
        let x = x.clone().narrow(0, start, count);
        let (dx_block, dy_block, dmix_block) =
            chunked::backward(spec.form, of_logits * spec.slope, x, y.clone(), mix.clone());
        dx.push(dx_block);
        dy = dy + dy_block;
        dmix = dmix + dmix_block;
    }
    (Tensor::cat(dx, 0), dy, dpotential, dmix)
}

fn blocks(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).step_by(BLOCK).map(move |start| (start, BLOCK.min(n - start)))
}

/// Returns the values and logits `[count, n]` of a block of rows.
fn logits_of_block(
    spec: ContrastSpec,
    x: &Tensor<2>,
    y: &Tensor<2>,
    potential: &Tensor<1>,
    mix: &Tensor<1>,
    (start, count): (usize, usize),
) -> (Tensor<2>, Tensor<2>) {
    let x = x.clone().narrow(0, start, count);
    let values = chunked::forward(spec.form, x, y.clone(), mix.clone());
    (values.clone(), values * spec.slope + potential.clone().unsqueeze())
}

/// Returns rows `start..start + count` of the identity matrix of size `n`.
fn block_of_identity(count: usize, n: usize, start: usize, like: &Tensor<2>) -> Tensor<2> {
    let mut values = vec![0.0f32; count * n];
    (0..count).for_each(|row| values[row * n + start + row] = 1.0);
    Tensor::from_data(TensorData::new(values, [count, n]), &like.device())
}

/// Returns the positives `[count]` of a block `[count, n]` of rows.
fn diagonal_of_block(block: Tensor<2>, start: usize) -> Tensor<1> {
    let [count, n] = block.dims();
    let identity = block_of_identity(count, n, start, &block);
    (block * identity).sum_dim(1).reshape([count])
}

/// Returns the number of rows `[count, n]` whose positive `[count]` is the unique largest logit.
fn wins(logits: Tensor<2>, positive: Tensor<1>) -> Tensor<1> {
    let [count, _] = logits.dims();
    let at_least = logits.greater_equal(positive.reshape([count, 1])).float().sum_dim(1);
    at_least.lower_scalar(1.5).float().sum()
}

fn log_sum_exp(logits: Tensor<2>, dimension: usize) -> Tensor<2> {
    let largest = logits.clone().detach().max_dim(dimension);
    (logits - largest.clone()).exp().sum_dim(dimension).log() + largest
}

/// Returns `ln(1 + e^x)` without overflow.
pub(crate) fn softplus<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    activation::relu(x.clone()) + (x.abs().neg().exp() + 1.0).log()
}

/// Sums over all pairs, `[1]` each.
struct Sums {
    wins: Tensor<1>,
    positive_value: Tensor<1>,
    value: Tensor<1>,
    binary: Tensor<1>,
}

impl Sums {
    fn zero(like: &Tensor<1>) -> Self {
        let zero = || Tensor::<1>::zeros([1], &like.device());
        Self { wins: zero(), positive_value: zero(), value: zero(), binary: zero() }
    }

    /// Returns the statistics `[6]`, given the log-sum-exps of rows and columns and the positive
    /// logits, `[n]` each.
    fn statistics(self, objective: Objective, [rows, columns, positive]: [Tensor<1>; 3]) -> Tensor<1> {
        let n = rows.dims()[0] as f32;
        let forward_nll = (rows.clone() - positive.clone()).mean();
        let backward_nll = (columns.clone() - positive).mean();
        let loss = match objective {
            Objective::InfoNce { forward, backward, penalty } => {
                let mut loss = forward_nll.zeros_like();
                if forward {
                    loss = loss + forward_nll.clone() + rows.square().mean() * penalty;
                }
                if backward {
                    loss = loss + backward_nll.clone() + columns.square().mean() * penalty;
                }
                loss
            }
            Objective::BinaryNce => self.binary / (n * n),
        };
        let parts = vec![
            loss,
            forward_nll.detach(),
            backward_nll.detach(),
            self.wins / n,
            self.positive_value / n,
            self.value / (n * n),
        ];
        Tensor::cat(parts, 0)
    }
}
