//! The parts of a layer that are not products, on some rows.

use super::{
    super::{
        Activation,
        math::{sum_lanes, sum_lanes_of_three, sum_lanes_of_two},
        vectorize::vectorized,
    },
    Layer,
};
use pulp::Arch;

/// Added to the variance, so that a constant row has a finite inverse deviation.
pub const NORM_EPSILON: f32 = 1e-5;

/// What the forward pass stores of some rows of a layer for the backward pass.
pub(super) struct RowTape<'a> {
    /// The outputs, which are the products `x w` before.
    pub y: &'a mut [f32],
    /// The normalized rows, or the pre-activations if there is no normalization; empty if they are
    /// not needed.
    pub z: &'a mut [f32],
    /// The inverse standard deviations of the rows; empty without normalization.
    pub inverse: &'a mut [f32],
}

/// Converts the products `x w` of some rows to the outputs of the layer.
pub(super) fn finish(arch: Arch, layer: &Layer, rows: RowTape) {
    match layer.norm {
        Some(affine) => normalize(arch, rows.y, rows.z, rows.inverse, layer.bias, affine, layer.activation),
        None => activate(arch, rows.y, rows.z, layer.bias, layer.activation),
    }
}

vectorized! {
    fn activate(y: &'a mut [f32], z: &'a mut [f32], bias: &'a [f32], activation: Activation) {
        for row in y.chunks_exact_mut(bias.len()) {
            row.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
        }
        if !z.is_empty() {
            z.copy_from_slice(y);
        }
        activation.apply(y);
    }
}

vectorized! {
    fn normalize(
        y: &'a mut [f32],
        z: &'a mut [f32],
        inverse: &'a mut [f32],
        bias: &'a [f32],
        affine: [&'a [f32]; 2],
        activation: Activation,
    ) {
        let [gain, shift] = affine;
        let width = gain.len();
        for ((y, z), inverse) in y.chunks_exact_mut(width).zip(z.chunks_exact_mut(width)).zip(inverse) {
            let mean = sum_lanes_of_two(y, bias, |v, b| v + b) / width as f32;
            y.iter_mut().zip(bias).for_each(|(y, b)| *y += b - mean);
            let variance = sum_lanes(y, |v| v * v) / width as f32;
            *inverse = 1.0 / (variance + NORM_EPSILON).sqrt();
            for ((y, z), (gain, shift)) in y.iter_mut().zip(z).zip(gain.iter().zip(shift)) {
                *z = *y * *inverse;
                *y = *z * gain + shift;
            }
            activation.apply(y);
        }
    }
}

/// The sums over rows of the gradients of a layer: those of the bias and, with normalization, of
/// gain and shift.
pub(super) struct ColumnSums {
    pub bias: Vec<f32>,
    pub norm: Option<[Vec<f32>; 2]>,
}

impl ColumnSums {
    pub fn zero(layer: &Layer) -> Self {
        let zero = || vec![0.0; layer.outputs()];
        Self { bias: zero(), norm: layer.norm.map(|_| [zero(), zero()]) }
    }

    pub fn add(&mut self, other: &Self) {
        let add =
            |to: &mut Vec<f32>, from: &Vec<f32>| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.bias, &other.bias);
        if let (Some(to), Some(from)) = (&mut self.norm, &other.norm) {
            to.iter_mut().zip(from).for_each(|(to, from)| add(to, from));
        }
    }
}

/// Converts the gradient of the outputs of some rows to that of `x w + b` in place, and adds to the
/// sums over rows.
///
/// `y`, `z` and `inverse` are those of [`RowTape`].
pub(super) fn backward(
    arch: Arch,
    layer: &Layer,
    gradient: &mut [f32],
    [y, z, inverse]: [&[f32]; 3],
    sums: &mut ColumnSums,
) {
    match (layer.norm, &mut sums.norm) {
        (Some(affine), Some([gain, shift])) => {
            let to = [&mut gain[..], &mut shift[..], &mut sums.bias[..]];
            normalize_backward(arch, gradient, z, inverse, affine, layer.activation, to);
        }
        _ => {
            let z = if layer.keeps_preactivations() { z } else { y };
            activate_backward(arch, gradient, z, layer.activation, &mut sums.bias);
        }
    }
}

vectorized! {
    fn activate_backward(gradient: &'a mut [f32], z: &'a [f32], activation: Activation, sums: &'a mut [f32]) {
        activation.multiply_by_derivative(gradient, z);
        for row in gradient.chunks_exact(sums.len()) {
            sums.iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
        }
    }
}

vectorized! {
    fn normalize_backward(
        gradient: &'a mut [f32],
        normalized: &'a [f32],
        inverse: &'a [f32],
        affine: [&'a [f32]; 2],
        activation: Activation,
        sums: [&'a mut [f32]; 3],
    ) {
        let ([gain, shift], [dgain, dshift, dbias]) = (affine, sums);
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
            for (((g, n), gain), dbias) in g.iter_mut().zip(normalized).zip(gain).zip(dbias.iter_mut()) {
                *g = (*g * gain - mean - n * along) * inverse;
                *dbias += *g;
            }
        }
    }
}
