//! Interval quasimetric embedding: the length of a union of intervals, per group of features.
//!
//! The intervals `[x_k, max(x_k, y_k)]` of a row start at the features of that row, so their order
//! is the same for every column. After one sort per row, the union is a scan in which every column
//! is a vector lane:
//!
//! ```text
//! low_k = max(x_k, reach_{k-1});   reach_k = max(low_k, y_k);   length = sum_k reach_k - low_k
//! ```

use super::{panel::PANEL, threads::min_tasks};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Returns the feature indices of every row of `x`, sorted by value within each group.
pub(super) fn sort_features(x: &[f32], width: usize, group_width: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..x.len()).map(|at| (at % width) as u32).collect();
    let rows = order.par_chunks_mut(width).zip(x.par_chunks(width)).with_min_len(min_tasks(64 * x.len()));
    rows.for_each(|(order, row)| {
        for group in order.chunks_exact_mut(group_width) {
            group.sort_by(|&a, &b| row[a as usize].total_cmp(&row[b as usize]));
        }
    });
    order
}

/// One row of `x` with the sorted order of its features.
#[derive(Clone, Copy)]
pub(super) struct SortedRow<'a> {
    pub values: &'a [f32],
    pub order: &'a [u32],
}

/// Computes the distances of one row of `x` to one panel of `y`.
pub(super) struct ForwardTile<'a> {
    pub group_width: usize,
    pub mix: f32,
    pub x: SortedRow<'a>,
    /// One panel, `[feature][PANEL]`.
    pub panel: &'a [f32],
    pub out: &'a mut [f32; PANEL],
    /// The group with the longest union, per lane.
    pub longest: Option<&'a mut [u16]>,
}

/// Returns the union lengths of one group for one vector of columns. Calls
/// `visit(step, low, reach before)` for each step.
#[inline(always)]
fn union_length<S: Simd>(
    simd: S,
    x: SortedRow,
    group: &[u32],
    panel: &[S::f32s],
    (vectors, vector): (usize, usize),
    mut visit: impl FnMut(usize, S::f32s, S::f32s),
) -> S::f32s {
    let mut reach = simd.splat_f32s(f32::NEG_INFINITY);
    let mut length = simd.splat_f32s(0.0);
    for (step, &feature) in group.iter().enumerate() {
        let low = simd.max_f32s(simd.splat_f32s(x.values[feature as usize]), reach);
        visit(step, low, reach);
        reach = simd.max_f32s(low, panel[feature as usize * vectors + vector]);
        length = simd.add_f32s(length, simd.sub_f32s(reach, low));
    }
    length
}

impl WithSimd for ForwardTile<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let vectors = PANEL / S::F32_LANES;
        let panel = S::as_simd_f32s(self.panel).0;
        let groups = self.x.order.chunks_exact(self.group_width);
        let mean_share = simd.splat_f32s((1.0 - self.mix) / groups.len() as f32);
        let max_share = simd.splat_f32s(self.mix);
        for vector in 0..vectors {
            let mut sum = simd.splat_f32s(0.0);
            let mut largest = simd.splat_f32s(-1.0);
            let mut index = simd.splat_u32s(0);
            for (g, group) in groups.clone().enumerate() {
                let length = union_length(simd, self.x, group, panel, (vectors, vector), |_, _, _| ());
                sum = simd.add_f32s(sum, length);
                let greater = simd.greater_than_f32s(length, largest);
                largest = simd.select_f32s(greater, length, largest);
                index = simd.select_u32s(greater, simd.splat_u32s(g as u32), index);
            }
            let at = vector * S::F32_LANES;
            let value = simd.mul_add_e_f32s(max_share, largest, simd.mul_f32s(mean_share, sum));
            simd.partial_store_f32s(&mut self.out[at..at + S::F32_LANES], value);
            if let Some(longest) = &mut self.longest {
                let index: &[u32] = pulp::bytemuck::cast_slice(std::slice::from_ref(&index));
                for (to, &from) in longest[at..at + S::F32_LANES].iter_mut().zip(index) {
                    *to = from as u16;
                }
            }
        }
    }
}

/// The gradient that a backward tile accumulates, in lanes: `[feature][PANEL]`.
pub(super) enum Target<'a> {
    /// The gradient of one row of `x`, to be summed over the lanes, and of the mix.
    Row(&'a mut [f32], &'a mut f64),
    /// The gradient of one panel of `y`.
    Panel(&'a mut [f32]),
}

/// Computes the gradient of one row of `x` against one panel of `y`.
pub(super) struct BackwardTile<'a> {
    pub group_width: usize,
    pub mix: f32,
    pub x: SortedRow<'a>,
    pub panel: &'a [f32],
    /// The upstream gradient, zero on padding.
    pub gradient: &'a [f32],
    pub longest: &'a [u16],
    pub target: Target<'a>,
    /// `(low, reach before)` of every step of a group, for one vector: `2 * group_width * PANEL`
    /// numbers.
    pub scratch: &'a mut [f32],
}

impl WithSimd for BackwardTile<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let vectors = PANEL / S::F32_LANES;
        let panel = S::as_simd_f32s(self.panel).0;
        let groups = self.x.order.chunks_exact(self.group_width);
        let (lows, reaches) = S::as_mut_simd_f32s(self.scratch).0.split_at_mut(self.group_width);
        let zero = simd.splat_f32s(0.0);
        let one = simd.splat_f32s(1.0);
        let minus_one = simd.splat_f32s(-1.0);
        let mean_share = simd.splat_f32s((1.0 - self.mix) / groups.len() as f32);
        let one_by_groups = simd.splat_f32s(1.0 / groups.len() as f32);
        let longest: [u32; PANEL] = std::array::from_fn(|lane| u32::from(self.longest[lane]));
        for vector in 0..vectors {
            let gradient = S::as_simd_f32s(self.gradient).0[vector];
            let longest = S::as_simd_u32s(&longest).0[vector];
            let mut gap = zero; // max - mean of the lengths
            for (g, group) in groups.clone().enumerate() {
                let is_longest = simd.equal_u32s(longest, simd.splat_u32s(g as u32));
                let share =
                    simd.add_f32s(mean_share, simd.select_f32s(is_longest, simd.splat_f32s(self.mix), zero));
                let weight = simd.mul_f32s(gradient, share);
                let length =
                    union_length(simd, self.x, group, panel, (vectors, vector), |step, low, reach| {
                        lows[step] = low;
                        reaches[step] = reach;
                    });
                let mean_part = simd.mul_f32s(length, one_by_groups);
                let max_part = simd.select_f32s(is_longest, length, zero);
                gap = simd.add_f32s(gap, simd.sub_f32s(max_part, mean_part));

                // Reverse scan. `back` is the gradient with respect to the reach after a step: 0 or
                // -1.
                let mut back = zero;
                for (step, &feature) in group.iter().enumerate().rev() {
                    let (low, reach) = (lows[step], reaches[step]);
                    let y = panel[feature as usize * vectors + vector];
                    let x = simd.splat_f32s(self.x.values[feature as usize]);
                    let extends = simd.greater_than_f32s(y, low);
                    let starts = simd.greater_than_or_equal_f32s(x, reach);
                    let to_low = simd.select_f32s(extends, minus_one, back);
                    match &mut self.target {
                        Target::Row(lanes, _) => {
                            let to_x = simd.select_f32s(starts, to_low, zero);
                            let lanes = S::as_mut_simd_f32s(lanes).0;
                            let at = feature as usize * vectors; // all vectors into the first: half the cache lines
                            lanes[at] = simd.mul_add_e_f32s(weight, to_x, lanes[at]);
                        }
                        Target::Panel(columns) => {
                            let to_y = simd.select_f32s(extends, simd.add_f32s(back, one), zero);
                            let columns = S::as_mut_simd_f32s(columns).0;
                            let at = feature as usize * vectors + vector;
                            columns[at] = simd.mul_add_e_f32s(weight, to_y, columns[at]);
                        }
                    }
                    back = simd.select_f32s(starts, zero, to_low);
                }
            }
            if let Target::Row(_, mix) = &mut self.target {
                **mix += f64::from(simd.reduce_sum_f32s(simd.mul_f32s(gradient, gap)));
            }
        }
    }
}
