//! The max-relu + L2 quasimetric (metric residual network), averaged over components.
//!
//! In the forward pass, the accumulators of four rows of `x` and one panel of `y` stay in registers
//! while the kernel iterates over features. In the backward pass, the gradient of the maximum goes
//! to one feature per pair, and the L2 part sums `w_ij (x_i - y_j)` over pairs *directly*: the
//! matrix identity `x_i sum_j w_ij - sum_j w_ij y_j` would cancel for close pairs (relative error
//! up to 3e-3).

use super::{
    panel::{GROUP, PANEL, QUAD, STRIP, Strips},
    vectorize::vectorized,
};
use pulp::{Simd, WithSimd};

/// The widths of the form.
#[derive(Clone, Copy)]
pub(super) struct Widths {
    pub components: usize,
    pub max_width: usize,
    pub l2_width: usize,
}

impl Widths {
    pub(super) fn component(self) -> usize {
        self.max_width + self.l2_width
    }

    /// Returns the L2 features as strips (start, length), component by component.
    pub(super) fn l2_spans(self) -> Vec<(usize, usize)> {
        let starts = (0..self.components).map(|c| c * self.component() + self.max_width);
        let strips = |start: usize| {
            (0..self.l2_width).step_by(STRIP).map(move |f| (start + f, STRIP.min(self.l2_width - f)))
        };
        starts.flat_map(strips).collect()
    }
}

/// Computes the distances of four rows of `x` to one panel of `y`.
pub(super) struct ForwardTile<'a> {
    pub widths: Widths,
    /// Rows of `x`; a short block repeats its last row.
    pub x: [&'a [f32]; QUAD],
    /// One panel, `[feature][PANEL]`.
    pub panel: &'a [f32],
    /// The distances; every element is written.
    pub out: &'a mut [[f32; PANEL]; QUAD],
    /// `inverse_l2` and `argmax` of the [`BackwardTile`] to store, and the index of the first row
    /// in its group.
    pub tape: Option<(&'a mut [f32], &'a mut [u16], usize)>,
}

impl WithSimd for ForwardTile<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let vectors = PANEL / S::F32_LANES;
        for pair in 0..vectors / 2 {
            self.two_vectors(simd, 2 * pair);
        }
    }
}

impl ForwardTile<'_> {
    /// Computes the vectors `first` and `first + 1` of the panel: 16 accumulators, which fit in
    /// registers.
    #[inline(always)]
    fn two_vectors<S: Simd>(&mut self, simd: S, first: usize) {
        let Widths { components, max_width, l2_width } = self.widths;
        let vectors = PANEL / S::F32_LANES;
        let panel = S::as_simd_f32s(self.panel).0;
        let zero = simd.splat_f32s(0.0);
        let one = simd.splat_f32s(1.0);
        let mut total = [[zero; 2]; QUAD];
        for component in 0..components {
            let start = component * (max_width + l2_width);
            let max_rows: [&[f32]; QUAD] = self.x.map(|row| &row[start..start + max_width]);
            let l2_rows: [&[f32]; QUAD] =
                self.x.map(|row| &row[start + max_width..start + max_width + l2_width]);
            let panel = &panel[start * vectors..(start + max_width + l2_width) * vectors];
            let (max_panel, l2_panel) = panel.split_at(max_width * vectors);

            let mut largest = [[zero; 2]; QUAD];
            let mut index = [[simd.splat_u32s(max_width as u32); 2]; QUAD];
            if self.tape.is_some() {
                for (f, y) in max_panel.chunks_exact(vectors).enumerate() {
                    let y = [y[first], y[first + 1]];
                    let feature = simd.splat_u32s(f as u32);
                    for q in 0..QUAD {
                        let x = simd.splat_f32s(max_rows[q][f]);
                        for v in 0..2 {
                            let difference = simd.sub_f32s(x, y[v]);
                            let greater = simd.greater_than_f32s(difference, largest[q][v]);
                            largest[q][v] = simd.select_f32s(greater, difference, largest[q][v]);
                            index[q][v] = simd.select_u32s(greater, feature, index[q][v]);
                        }
                    }
                }
            } else {
                for (f, y) in max_panel.chunks_exact(vectors).enumerate() {
                    let y = [y[first], y[first + 1]];
                    for q in 0..QUAD {
                        let x = simd.splat_f32s(max_rows[q][f]);
                        for v in 0..2 {
                            largest[q][v] = simd.max_f32s(largest[q][v], simd.sub_f32s(x, y[v]));
                        }
                    }
                }
            }
            let mut squares = [[zero; 2]; QUAD];
            for (f, y) in l2_panel.chunks_exact(vectors).enumerate() {
                let y = [y[first], y[first + 1]];
                for q in 0..QUAD {
                    let x = simd.splat_f32s(l2_rows[q][f]);
                    for v in 0..2 {
                        let difference = simd.sub_f32s(x, y[v]);
                        squares[q][v] = simd.mul_add_e_f32s(difference, difference, squares[q][v]);
                    }
                }
            }
            for q in 0..QUAD {
                for v in 0..2 {
                    let l2 = simd.sqrt_f32s(squares[q][v]);
                    total[q][v] = simd.add_f32s(total[q][v], simd.add_f32s(largest[q][v], l2));
                    if let Some((inverse_l2, argmax, row)) = &mut self.tape {
                        let at = (component * GROUP + *row + q) * PANEL + (first + v) * S::F32_LANES;
                        let apart = simd.greater_than_f32s(squares[q][v], zero);
                        let inverse = simd.select_f32s(apart, simd.div_f32s(one, l2), zero);
                        simd.partial_store_f32s(&mut inverse_l2[at..at + S::F32_LANES], inverse);
                        let index: &[u32] = pulp::bytemuck::cast_slice(std::slice::from_ref(&index[q][v]));
                        for (to, &from) in argmax[at..at + S::F32_LANES].iter_mut().zip(index) {
                            *to = from as u16;
                        }
                    }
                }
            }
        }
        let scale = simd.splat_f32s(1.0 / components as f32);
        for q in 0..QUAD {
            for v in 0..2 {
                let at = (first + v) * S::F32_LANES;
                let value = simd.mul_f32s(total[q][v], scale);
                simd.partial_store_f32s(&mut self.out[q][at..at + S::F32_LANES], value);
            }
        }
    }
}

/// Computes `out_q = sum_p w_qp (own_q - other_p)` for four own rows and one strip of features.
struct PullTile<'a> {
    own: [&'a [f32]; QUAD],
    /// `[other row][STRIP]`.
    other: &'a [f32],
    side: Side,
    /// `w_ij`: `[panel][GROUP][PANEL]` if own rows are rows of `x`, `[row][PANEL]` if they are
    /// columns.
    weights: &'a [f32],
    /// The index of the first own row in its group, or its lane.
    quad: usize,
    out: &'a mut [[f32; STRIP]; QUAD],
}

/// Computes `sum_q += weight_q (own_q - other)` for two vectors of features.
#[inline(always)]
fn pull<S: Simd>(
    simd: S,
    own: &[[S::f32s; 2]; QUAD],
    other: &[S::f32s],
    weight: [f32; QUAD],
    sum: &mut [[S::f32s; 2]; QUAD],
) {
    for q in 0..QUAD {
        let weight = simd.splat_f32s(weight[q]);
        for v in 0..2 {
            sum[q][v] = simd.mul_add_e_f32s(weight, simd.sub_f32s(own[q][v], other[v]), sum[q][v]);
        }
    }
}

impl WithSimd for PullTile<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = STRIP / S::F32_LANES;
        let other = S::as_simd_f32s(self.other).0;
        for first in (0..vectors).step_by(2) {
            let mut own = [[simd.splat_f32s(0.0); 2]; QUAD];
            for q in 0..QUAD {
                let row = S::as_simd_f32s(self.own[q]).0;
                own[q] = [row[first], row[first + 1]];
            }
            let mut sum = [[simd.splat_f32s(0.0); 2]; QUAD];
            match self.side {
                Side::Rows => {
                    let tiles = self.weights.chunks_exact(GROUP * PANEL);
                    for (tile, other) in tiles.zip(other.chunks_exact(PANEL * vectors)) {
                        let rows: [&[f32; PANEL]; QUAD] = std::array::from_fn(|q| {
                            tile[(self.quad + q) * PANEL..][..PANEL].try_into().unwrap()
                        });
                        for (lane, other) in other.chunks_exact(vectors).enumerate() {
                            let weight = [rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane]];
                            pull(simd, &own, &other[first..first + 2], weight, &mut sum);
                        }
                    }
                }
                Side::Columns => {
                    let rows = self.weights.chunks_exact(PANEL);
                    for (weights, other) in rows.zip(other.chunks_exact(vectors)) {
                        let weight: [f32; QUAD] = weights[self.quad..self.quad + QUAD].try_into().unwrap();
                        pull(simd, &own, &other[first..first + 2], weight, &mut sum);
                    }
                }
            }
            for q in 0..QUAD {
                for v in 0..2 {
                    let at = (first + v) * S::F32_LANES;
                    simd.partial_store_f32s(&mut self.out[q][at..at + S::F32_LANES], sum[q][v]);
                }
            }
        }
    }
}

/// The tape of [`GROUP`] rows and one panel: `[component][GROUP][PANEL]`.
pub(super) struct BackwardTile<'a> {
    /// `1 / ||x' - y'||`, or 0 where the rows coincide, so that the gradient there is zero.
    pub inverse_l2: &'a [f32],
    /// The feature that attains the maximum, or `max_width` where the maximum is zero.
    pub argmax: &'a [u16],
}

/// The side whose gradient a backward pass computes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// One group of rows of `x`; the tiles are those of all panels.
    Rows,
    /// One panel of `y`; the tiles are those of all row groups.
    Columns,
}

/// Adds the gradient with respect to one group of rows or one panel of columns to `out`.
///
/// `gradient` is that of the tiles, `[tile][GROUP][PANEL]`, zero on padding. `own` is the strips of
/// this side and the index of its first row in them; `other` is the same for the opposite side.
#[expect(clippy::too_many_arguments, reason = "plain slices of one kernel call")]
pub(super) fn backward(
    arch: pulp::Arch,
    widths: Widths,
    side: Side,
    gradient: &[f32],
    tiles: &[BackwardTile],
    own: (&Strips, usize),
    other: (&Strips, usize),
    out: &mut [f32],
) {
    let width = widths.components * widths.component();
    let scale = 1.0 / widths.components as f32;
    let own_rows = out.len() / width;
    let mut at_max = vec![0.0; PANEL * (widths.max_width + 1)];
    let mut weights = vec![0.0; gradient.len()];
    for component in 0..widths.components {
        let start = component * widths.component();
        let records = component * GROUP * PANEL..(component + 1) * GROUP * PANEL;

        at_max.fill(0.0);
        for (tile, gradient) in tiles.iter().zip(gradient.chunks_exact(GROUP * PANEL)) {
            scatter(side, &tile.argmax[records.clone()], gradient, widths.max_width + 1, &mut at_max);
        }
        let scale_max = if side == Side::Rows { scale } else { -scale };
        for (out, sums) in out.chunks_exact_mut(width).zip(at_max.chunks_exact(widths.max_width + 1)) {
            let to = &mut out[start..start + widths.max_width];
            to.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum * scale_max);
        }

        if widths.l2_width == 0 {
            continue;
        }
        let pairs = weights.chunks_exact_mut(GROUP * PANEL).zip(gradient.chunks_exact(GROUP * PANEL));
        for ((weights, gradient), tile) in pairs.zip(tiles) {
            weigh(arch, weights, gradient, &tile.inverse_l2[records.clone()], scale);
        }
        let strips = widths.l2_width.div_ceil(STRIP);
        for strip in 0..strips {
            let index = component * strips + strip;
            let features = STRIP.min(widths.l2_width - strip * STRIP);
            let first = start + widths.max_width + strip * STRIP;
            for quad in (0..own_rows).step_by(QUAD) {
                let mut sums = [[0.0; STRIP]; QUAD];
                arch.dispatch(PullTile {
                    own: std::array::from_fn(|q| &own.0.strip(index)[(own.1 + quad + q) * STRIP..][..STRIP]),
                    other: &other.0.strip(index)[other.1 * STRIP..],
                    side,
                    weights: &weights,
                    quad,
                    out: &mut sums,
                });
                for (row, sums) in (quad..own_rows).zip(&sums) {
                    let to = &mut out[row * width + first..][..features];
                    to.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
                }
            }
        }
    }
}

vectorized! {
    /// Computes `weights = scale * gradient / length`.
    fn weigh(weights: &'a mut [f32], gradient: &'a [f32], inverse: &'a [f32], scale: f32) {
        for ((weight, gradient), inverse) in weights.iter_mut().zip(gradient).zip(inverse) {
            *weight = gradient * inverse * scale;
        }
    }
}

/// Adds the gradient of every pair of a tile to the feature of its own row that attained the
/// maximum.
///
/// The inner loop iterates over own rows, so that consecutive additions are independent.
fn scatter(side: Side, argmax: &[u16], gradient: &[f32], stride: usize, sums: &mut [f32]) {
    // The lengths are constants, so that only the index into `sums` is checked at run time.
    let argmax: &[u16; GROUP * PANEL] = argmax.try_into().unwrap();
    let gradient: &[f32; GROUP * PANEL] = gradient.try_into().unwrap();
    match side {
        Side::Rows => {
            for lane in 0..PANEL {
                for row in 0..GROUP {
                    let pair = row * PANEL + lane;
                    sums[row * stride + usize::from(argmax[pair])] += gradient[pair];
                }
            }
        }
        Side::Columns => {
            for (argmax, gradient) in argmax.chunks_exact(PANEL).zip(gradient.chunks_exact(PANEL)) {
                for lane in 0..PANEL {
                    sums[lane * stride + usize::from(argmax[lane])] += gradient[lane];
                }
            }
        }
    }
}
