//! Linear layers and layer normalization with their activation, forward and backward.
//!
//! Burn's CPU backend runs element-wise operations on one thread, zeroes and copies the outputs of
//! matrix products, and differentiates layer normalization as ten operations. Here each layer is
//! one product and one pass.

use super::{
    Activation,
    math::{sum_lanes, sum_lanes_of_three, sum_lanes_of_two},
    matrix::{Matrix, multiply},
    vectorize::vectorized,
};
use pulp::Arch;
use rayon::prelude::*;

/// The number of rows per task. Sums over rows are added in the order of the tasks, so they do not
/// depend on the number of threads.
const ROWS: usize = 32;

/// Added to the variance, so that a constant row has a finite inverse deviation.
pub const NORM_EPSILON: f32 = 1e-5;

vectorized! {
    /// Adds the bias and applies the activation to some rows; `z` receives the pre-activations.
    fn finish_rows(y: &'a mut [f32], z: Option<&'a mut [f32]>, b: &'a [f32], activation: Activation) {
        for row in y.chunks_exact_mut(b.len()) {
            row.iter_mut().zip(b).for_each(|(y, b)| *y += b);
        }
        if let Some(z) = z {
            z.copy_from_slice(y);
        }
        activation.apply(y);
    }
}

/// Returns `activation(x w + b)` for `x: [n, inputs]`, `w: [inputs, outputs]`, `b: [outputs]`. With
/// `keep`, it also returns `x w + b` if the derivative of the activation needs it.
pub fn linear(
    x: &[f32],
    w: &[f32],
    b: &[f32],
    activation: Activation,
    keep: bool,
) -> (Vec<f32>, Option<Vec<f32>>) {
    let outputs = b.len();
    let inputs = w.len() / outputs;
    let mut y = multiply(Matrix::new(x, inputs), Matrix::new(w, outputs));
    let arch = Arch::new();
    if keep && matches!(activation, Activation::Gelu | Activation::Silu) {
        let mut z = vec![0.0; y.len()];
        let tasks = y.par_chunks_mut(ROWS * outputs).zip(z.par_chunks_mut(ROWS * outputs));
        tasks.for_each(|(y, z)| finish_rows(arch, y, Some(z), b, activation));
        return (y, Some(z));
    }
    y.par_chunks_mut(ROWS * outputs).for_each(|y| finish_rows(arch, y, None, b, activation));
    (y, None)
}

vectorized! {
    /// Converts the gradient of some rows to that of their pre-activations, and adds its column
    /// sums to `sums`.
    fn finish_rows_backward(
        gradient: &'a mut [f32],
        z: Option<&'a [f32]>,
        activation: Activation,
        sums: &'a mut [f32],
    ) {
        if let Some(z) = z {
            activation.multiply_by_derivative(gradient, z);
        }
        for row in gradient.chunks_exact(sums.len()) {
            sums.iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
        }
    }
}

/// Converts the gradient of the output to that of `x w + b` in place, and returns the gradient of
/// `b`.
///
/// `z` are the pre-activations, or the outputs of a `Relu`.
pub fn linear_backward_bias(
    gradient: &mut [f32],
    z: Option<&[f32]>,
    activation: Activation,
    outputs: usize,
) -> Vec<f32> {
    let arch = Arch::new();
    let tasks = gradient.par_chunks_mut(ROWS * outputs).enumerate();
    let sums = tasks.map(|(task, gradient)| {
        let mut sums = vec![0.0; outputs];
        finish_rows_backward(arch, gradient, z.map(|z| &z[task * ROWS * outputs..]), activation, &mut sums);
        sums
    });
    add_in_order(sums.collect(), outputs)
}

vectorized! {
    /// Normalizes some rows in place and writes their outputs and inverse standard deviations.
    fn normalize_rows(
        x: &'a mut [f32],
        y: &'a mut [f32],
        inverse: &'a mut [f32],
        affine: [&'a [f32]; 2],
        activation: Activation,
    ) {
        let [gain, shift] = affine;
        let width = gain.len();
        for ((x, y), inverse) in x.chunks_exact_mut(width).zip(y.chunks_exact_mut(width)).zip(inverse) {
            let mean = sum_lanes(x, |v| v) / width as f32;
            let variance = sum_lanes(x, |v| (v - mean) * (v - mean)) / width as f32;
            *inverse = 1.0 / (variance + NORM_EPSILON).sqrt();
            for ((x, y), (gain, shift)) in x.iter_mut().zip(y.iter_mut()).zip(gain.iter().zip(shift)) {
                *x = (*x - mean) * *inverse;
                *y = *x * gain + shift;
            }
            activation.apply(y);
        }
    }
}

/// Returns `activation(gain * (x - mean) / sqrt(variance + 1e-5) + shift)` per row of
/// `x: [n, width]`, and the inverse standard deviations `[n]`.
///
/// `affine` is gain and shift. `x` becomes `(x - mean) / deviation`, which the backward pass reads.
pub fn layer_norm(x: &mut [f32], affine: [&[f32]; 2], activation: Activation) -> (Vec<f32>, Vec<f32>) {
    let width = affine[0].len();
    let arch = Arch::new();
    let mut y = vec![0.0; x.len()];
    let mut inverse_deviation = vec![0.0; x.len() / width];
    let tasks = x.par_chunks_mut(ROWS * width).zip(y.par_chunks_mut(ROWS * width));
    let tasks = tasks.zip(inverse_deviation.par_chunks_mut(ROWS));
    tasks.for_each(|((x, y), inverse)| normalize_rows(arch, x, y, inverse, affine, activation));
    (y, inverse_deviation)
}

vectorized! {
    /// Converts the gradient of some rows in place, and adds to those of gain and shift.
    fn normalize_rows_backward(
        gradient: &'a mut [f32],
        normalized: &'a [f32],
        inverse: &'a [f32],
        affine: [&'a [f32]; 2],
        activation: Activation,
        dgain: &'a mut [f32],
        dshift: &'a mut [f32],
    ) {
        let [gain, shift] = affine;
        let width = gain.len();
        let mut z = vec![0.0; width];
        let rows = gradient.chunks_exact_mut(width).zip(normalized.chunks_exact(width)).zip(inverse);
        for ((g, normalized), &inverse) in rows {
            for ((z, n), (gain, shift)) in z.iter_mut().zip(normalized).zip(gain.iter().zip(shift)) {
                *z = n * gain + shift;
            }
            activation.multiply_by_derivative(g, &z);
            for ((g, n), (dgain, dshift)) in g.iter().zip(normalized).zip(dgain.iter_mut().zip(dshift.iter_mut())) {
                *dgain += g * n;
                *dshift += g;
            }
            let mean = sum_lanes_of_two(g, gain, |g, gain| g * gain) / width as f32;
            let along = sum_lanes_of_three(g, gain, normalized, |g, gain, n| g * gain * n) / width as f32;
            for ((g, n), gain) in g.iter_mut().zip(normalized).zip(gain) {
                *g = (*g * gain - mean - n * along) * inverse;
            }
        }
    }
}

/// Converts the gradient of the output to that of `x` in place, and returns those of `gain` and
/// `shift`.
///
/// `normalized` and `inverse_deviation` are the results of [`layer_norm`].
pub fn layer_norm_backward(
    gradient: &mut [f32],
    normalized: &[f32],
    inverse_deviation: &[f32],
    affine: [&[f32]; 2],
    activation: Activation,
) -> (Vec<f32>, Vec<f32>) {
    let width = affine[0].len();
    let arch = Arch::new();
    let tasks = gradient.par_chunks_mut(ROWS * width).zip(normalized.par_chunks(ROWS * width));
    let sums = tasks.zip(inverse_deviation.par_chunks(ROWS)).map(|((gradient, normalized), inverse)| {
        let (mut dgain, mut dshift) = (vec![0.0; width], vec![0.0; width]);
        normalize_rows_backward(
            arch,
            gradient,
            normalized,
            inverse,
            affine,
            activation,
            &mut dgain,
            &mut dshift,
        );
        (dgain, dshift)
    });
    let (dgain, dshift) = sums.collect::<Vec<_>>().into_iter().unzip();
    (add_in_order(dgain, width), add_in_order(dshift, width))
}

fn add_in_order(parts: Vec<Vec<f32>>, width: usize) -> Vec<f32> {
    let mut total = vec![0.0; width];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    }
    total
}
