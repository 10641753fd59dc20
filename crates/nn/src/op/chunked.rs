//! All pairs by tensor operations: the reference, and the implementation for backends without
//! kernels.
//!
//! [`differentiable`] is a plain broadcast, differentiated by Burn, and stores `n m width` numbers.
//! [`forward`] and [`backward`] compute the same in chunks of rows of at most [`CHUNK_ELEMENTS`],
//! with an explicit gradient.

use crate::kernel::PairForm;
use burn::tensor::{IndexingUpdateOp, Int, Tensor, activation::relu};

/// The maximum number of elements of the broadcast tensor of a chunk (64 MiB of floats).
pub const CHUNK_ELEMENTS: usize = 1 << 24;

fn rows_per_chunk(form: PairForm, m: usize) -> usize {
    (CHUNK_ELEMENTS / (m * form.width()).max(1)).max(1)
}

/// Returns the values `[n, m]`, computed chunk by chunk, for tensors without autodiff.
pub fn forward(form: PairForm, x: Tensor<2>, y: Tensor<2>, mix: Tensor<1>) -> Tensor<2> {
    let ([n, _], [m, _]) = (x.dims(), y.dims());
    let rows = rows_per_chunk(form, m);
    let chunks = (0..n).step_by(rows).map(|start| {
        let x = x.clone().narrow(0, start, rows.min(n - start));
        differentiable(form, x, y.clone(), mix.clone())
    });
    Tensor::cat(chunks.collect(), 0)
}

/// Returns the gradients of `sum_ij gradient_ij value_ij` with respect to `x`, `y` and the mix,
/// chunk by chunk.
pub fn backward(
    form: PairForm,
    gradient: Tensor<2>,
    x: Tensor<2>,
    y: Tensor<2>,
    mix: Tensor<1>,
) -> (Tensor<2>, Tensor<2>, Tensor<1>) {
    let ([n, _], [m, _]) = (x.dims(), y.dims());
    let rows = rows_per_chunk(form, m);
    let (mut dx, mut dy, mut dmix) = (Vec::new(), y.zeros_like(), mix.zeros_like());
    for start in (0..n).step_by(rows) {
        let count = rows.min(n - start);
        let gradient = gradient.clone().narrow(0, start, count);
        let x = x.clone().narrow(0, start, count);
        let (dx_chunk, dy_chunk, dmix_chunk) = match form {
            PairForm::MaxL2 { components, max_width, l2_width } => {
                let (dx, dy) = max_l2_backward((components, max_width, l2_width), gradient, x, y.clone());
                (dx, dy, mix.zeros_like())
            }
            PairForm::Interval { groups, group_width } => {
                interval_backward((groups, group_width), gradient, x, y.clone(), mix.clone())
            }
            PairForm::InnerProduct { .. } => {
                (gradient.clone().matmul(y.clone()), gradient.transpose().matmul(x), mix.zeros_like())
            }
        };
        dx.push(dx_chunk);
        dy = dy + dy_chunk;
        dmix = dmix + dmix_chunk;
    }
    (Tensor::cat(dx, 0), dy, dmix)
}

/// Returns the values `[n, m]` by broadcasting to `[n, m, width]`; differentiated by Burn.
pub fn differentiable(form: PairForm, x: Tensor<2>, y: Tensor<2>, mix: Tensor<1>) -> Tensor<2> {
    let ([n, width], [m, _]) = (x.dims(), y.dims());
    match form {
        PairForm::MaxL2 { components, max_width, l2_width } => {
            let x = x.reshape([n, 1, components, width / components]);
            let y = y.reshape([1, m, components, width / components]);
            max_l2(x - y, max_width, l2_width).mean_dim(2).reshape([n, m])
        }
        PairForm::Interval { groups, group_width } => {
            let shape = [n, m, groups, group_width];
            let x = x.reshape([n, 1, groups, group_width]).expand(shape);
            let y = y.reshape([1, m, groups, group_width]).expand(shape);
            interval(x, y, mix).reshape([n, m])
        }
        PairForm::InnerProduct { .. } => x.matmul(y.transpose()),
    }
}

/// Returns the values `[n]` of the pairs `(x_i, y_i)`; differentiated by Burn.
pub fn rowwise(form: PairForm, x: Tensor<2>, y: Tensor<2>, mix: Tensor<1>) -> Tensor<1> {
    let [n, width] = x.dims();
    match form {
        PairForm::MaxL2 { components, max_width, l2_width } => {
            let difference = (x - y).reshape([n, 1, components, width / components]);
            max_l2(difference, max_width, l2_width).mean_dim(2).reshape([n])
        }
        PairForm::Interval { groups, group_width } => {
            let shape = [n, 1, groups, group_width];
            interval(x.reshape(shape), y.reshape(shape), mix).reshape([n])
        }
        PairForm::InnerProduct { .. } => (x * y).sum_dim(1).reshape([n]),
    }
}

/// Returns `max relu + L2` over the last dimension.
fn max_l2(difference: Tensor<4>, max_width: usize, l2_width: usize) -> Tensor<4> {
    let rise = (max_width > 0).then(|| relu(difference.clone().narrow(3, 0, max_width)).max_dim(3));
    if let (Some(rise), 0) = (&rise, l2_width) {
        return rise.clone();
    }
    let squares = difference.narrow(3, max_width, l2_width).square().sum_dim(3);
    // The root has no derivative at zero; coincident rows have distance 0 and gradient 0.
    let coincident = squares.clone().detach().equal_scalar(0.0);
    let length = squares.mask_fill(coincident.clone(), 1.0).sqrt().mask_fill(coincident, 0.0);
    match rise {
        Some(rise) => rise + length,
        None => length,
    }
}

fn max_l2_backward(
    (components, max_width, l2_width): (usize, usize, usize),
    gradient: Tensor<2>,
    x: Tensor<2>,
    y: Tensor<2>,
) -> (Tensor<2>, Tensor<2>) {
    let ([n, width], [m, _]) = (x.dims(), y.dims());
    let part = width / components;
    let difference = x.reshape([n, 1, components, part]) - y.reshape([1, m, components, part]);
    let gradient = gradient.div_scalar(components as f32).reshape([n, m, 1, 1]).repeat_dim(2, components);
    let mut parts = Vec::new();
    if max_width > 0 {
        let (largest, index) = difference.clone().narrow(3, 0, max_width).max_dim_with_indices(3);
        let won = gradient.clone().mask_fill(largest.lower_equal_scalar(0.0), 0.0);
        let zeros = Tensor::<4>::zeros([n, m, components, max_width], &gradient.device());
        parts.push(zeros.scatter(3, index, won, IndexingUpdateOp::Add));
    }
    if l2_width > 0 {
        let difference = difference.narrow(3, max_width, l2_width);
        let length = difference.clone().square().sum_dim(3).sqrt();
        let coincident = length.clone().equal_scalar(0.0);
        let weight = (gradient / length.mask_fill(coincident.clone(), 1.0)).mask_fill(coincident, 0.0);
        parts.push(difference * weight);
    }
    let of_difference = Tensor::cat(parts, 3);
    let dx = of_difference.clone().sum_dim(1).reshape([n, width]);
    let dy = of_difference.sum_dim(0).neg().reshape([m, width]);
    (dx, dy)
}

/// Returns `mix * longest + (1 - mix) * mean` of the union lengths,
/// `[n, m, groups, group_width] -> [n, m, 1, 1]`.
fn interval(x: Tensor<4>, y: Tensor<4>, mix: Tensor<1>) -> Tensor<4> {
    let mix = mix.reshape([1, 1, 1, 1]);
    let lengths = Scan::new(x, y).lengths;
    let longest = lengths.clone().max_dim(2);
    longest * mix.clone() + lengths.mean_dim(2) * (mix.neg() + 1.0)
}

/// The scan over intervals, ordered by their start.
struct Scan {
    order: Tensor<4, Int>,
    /// `(x, y, low, reach before)` of each step, `[n, m, groups, 1]`.
    steps: Vec<[Tensor<4>; 4]>,
    /// The lengths of the unions, `[n, m, groups, 1]`.
    lengths: Tensor<4>,
}

impl Scan {
    fn new(x: Tensor<4>, y: Tensor<4>) -> Self {
        let [_, _, _, group_width] = x.dims();
        let order = x.clone().detach().argsort(3);
        let (x, y) = (x.gather(3, order.clone()), y.gather(3, order.clone()));
        let mut reach = x.clone().narrow(3, 0, 1).detach().full_like(f32::MIN);
        let (mut steps, mut pieces) = (Vec::new(), Vec::new());
        for step in 0..group_width {
            let (x, y) = (x.clone().narrow(3, step, 1), y.clone().narrow(3, step, 1));
            let low = x.clone().max_pair(reach.clone());
            let next = low.clone().max_pair(y.clone());
            pieces.push(next.clone() - low.clone());
            steps.push([x, y, low, reach]);
            reach = next;
        }
        let lengths = pieces.into_iter().reduce(|sum, piece| sum + piece).expect("groups are not empty");
        Self { order, steps, lengths }
    }
}

fn interval_backward(
    (groups, group_width): (usize, usize),
    gradient: Tensor<2>,
    x: Tensor<2>,
    y: Tensor<2>,
    mix: Tensor<1>,
) -> (Tensor<2>, Tensor<2>, Tensor<1>) {
    let ([n, width], [m, _]) = (x.dims(), y.dims());
    let device = x.device();
    let shape = [n, m, groups, group_width];
    let x = x.reshape([n, 1, groups, group_width]).expand(shape);
    let y = y.reshape([1, m, groups, group_width]).expand(shape);
    let Scan { order, steps, lengths } = Scan::new(x, y);
    let gradient = gradient.reshape([n, m, 1, 1]);
    let (longest, index) = lengths.clone().max_dim_with_indices(2);
    let dmix = (gradient.clone() * (longest - lengths.mean_dim(2))).sum();
    let mix = mix.reshape([1, 1, 1, 1]);
    let share = (mix.clone().neg() + 1.0).div_scalar(groups as f32).expand([n, m, groups, 1]);
    let share = share.scatter(2, index, mix.expand([n, m, 1, 1]), IndexingUpdateOp::Add);
    let weight = gradient * share;

    let mut back = weight.zeros_like();
    let (mut to_x, mut to_y) = (Vec::new(), Vec::new());
    for [x, y, low, reach] in steps.into_iter().rev() {
        let extends = y.greater(low);
        let starts = x.greater_equal(reach);
        to_y.push((back.clone() + 1.0).mask_fill(extends.clone().bool_not(), 0.0));
        let to_low = back.mask_fill(extends, -1.0);
        to_x.push(to_low.clone().mask_fill(starts.clone().bool_not(), 0.0));
        back = to_low.mask_fill(starts, 0.0);
    }
    let unsort = |mut parts: Vec<Tensor<4>>| {
        parts.reverse();
        let sorted = Tensor::cat(parts, 3) * weight.clone();
        Tensor::<4>::zeros(shape, &device).scatter(3, order.clone(), sorted, IndexingUpdateOp::Add)
    };
    let dx = unsort(to_x).sum_dim(1).reshape([n, width]);
    let dy = unsort(to_y).sum_dim(0).reshape([m, width]);
    (dx, dy, dmix)
}
