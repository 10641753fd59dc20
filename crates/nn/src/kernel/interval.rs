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

/// The number of vectors of columns that are scanned together, so that one scan waits while another
/// one proceeds.
const TOGETHER: usize = 2;

/// One step of the scans of [`TOGETHER`] vectors of columns.
struct Step<S: Simd> {
    /// Whether the interval starts a piece of the union.
    starts: [S::m32s; TOGETHER],
    /// Whether it extends the union.
    extends: [S::m32s; TOGETHER],
}

/// Returns the union lengths of one group for the vectors of columns from `first` on. Calls
/// `visit(k, step)` for each interval in the order of their starts.
#[inline(always)]
fn union_lengths<S: Simd>(
    simd: S,
    x: SortedRow,
    group: &[u32],
    panel: &[S::f32s],
    first: usize,
    mut visit: impl FnMut(usize, Step<S>),
) -> [S::f32s; TOGETHER] {
    let vectors = PANEL / S::F32_LANES;
    let mut reach = [simd.splat_f32s(f32::NEG_INFINITY); TOGETHER];
    let mut length = [simd.splat_f32s(0.0); TOGETHER];
    for (k, &feature) in group.iter().enumerate() {
        let start = simd.splat_f32s(x.values[feature as usize]);
        let y = &panel[feature as usize * vectors + first..][..TOGETHER];
        let low: [S::f32s; TOGETHER] = std::array::from_fn(|v| simd.max_f32s(start, reach[v]));
        visit(
            k,
            Step {
                starts: std::array::from_fn(|v| simd.greater_than_or_equal_f32s(start, reach[v])),
                extends: std::array::from_fn(|v| simd.greater_than_f32s(y[v], low[v])),
            },
        );
        for v in 0..TOGETHER {
            reach[v] = simd.max_f32s(low[v], y[v]);
            length[v] = simd.add_f32s(length[v], simd.sub_f32s(reach[v], low[v]));
        }
    }
    length
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

impl WithSimd for ForwardTile<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let panel = S::as_simd_f32s(self.panel).0;
        let groups = self.x.order.chunks_exact(self.group_width);
        let mean_share = simd.splat_f32s((1.0 - self.mix) / groups.len() as f32);
        let max_share = simd.splat_f32s(self.mix);
        for first in (0..PANEL / S::F32_LANES).step_by(TOGETHER) {
            let mut sum = [simd.splat_f32s(0.0); TOGETHER];
            let mut largest = [simd.splat_f32s(-1.0); TOGETHER];
            let mut index = [simd.splat_u32s(0); TOGETHER];
            for (g, group) in groups.clone().enumerate() {
                let length = union_lengths(simd, self.x, group, panel, first, |_, _| ());
                for v in 0..TOGETHER {
                    sum[v] = simd.add_f32s(sum[v], length[v]);
                    let greater = simd.greater_than_f32s(length[v], largest[v]);
                    largest[v] = simd.select_f32s(greater, length[v], largest[v]);
                    index[v] = simd.select_u32s(greater, simd.splat_u32s(g as u32), index[v]);
                }
            }
            for v in 0..TOGETHER {
                let at = (first + v) * S::F32_LANES;
                let value = simd.mul_add_e_f32s(max_share, largest[v], simd.mul_f32s(mean_share, sum[v]));
                simd.partial_store_f32s(&mut self.out[at..at + S::F32_LANES], value);
                if let Some(longest) = &mut self.longest {
                    let index: &[u32] = pulp::bytemuck::cast_slice(std::slice::from_ref(&index[v]));
                    for (to, &from) in longest[at..at + S::F32_LANES].iter_mut().zip(index) {
                        *to = from as u16;
                    }
                }
            }
        }
    }
}

/// One row of `x` and one panel of `y` in a backward pass.
pub(super) struct Tile<'a> {
    pub x: SortedRow<'a>,
    /// `[feature][PANEL]`
    pub panel: &'a [f32],
    /// The upstream gradient, zero on padding.
    pub gradient: [f32; PANEL],
    /// The group with the longest union, per lane.
    pub longest: [u32; PANEL],
}

/// The weights of the groups of an interval form.
#[derive(Clone, Copy)]
pub(super) struct Shares {
    pub groups: usize,
    pub group_width: usize,
    pub mix: f32,
}

impl Shares {
    /// Returns the gradient of the length of `group`, and whether it is the longest, for the
    /// columns from `first` on.
    #[inline(always)]
    fn of_group<S: Simd>(
        self,
        simd: S,
        tile: &Tile,
        group: usize,
        first: usize,
    ) -> ([S::f32s; TOGETHER], [S::m32s; TOGETHER]) {
        let mean_share = simd.splat_f32s((1.0 - self.mix) / self.groups as f32);
        let whole_share = simd.splat_f32s((1.0 - self.mix) / self.groups as f32 + self.mix);
        let gradient = S::as_simd_f32s(&tile.gradient).0;
        let longest = S::as_simd_u32s(&tile.longest).0;
        let is_longest: [S::m32s; TOGETHER] =
            std::array::from_fn(|v| simd.equal_u32s(longest[first + v], simd.splat_u32s(group as u32)));
        let weight = std::array::from_fn(|v| {
            let share = simd.select_f32s(is_longest[v], whole_share, mean_share);
            simd.mul_f32s(gradient[first + v], share)
        });
        (weight, is_longest)
    }
}

/// Adds the gradient of one row of `x` over its tiles to `dx`, and returns that of the mix.
pub(super) struct RowBackward<'a> {
    pub shares: Shares,
    /// The tiles of all panels; their row is the same.
    pub tiles: &'a [Tile<'a>],
    /// `[width]`
    pub dx: &'a mut [f32],
}

impl WithSimd for RowBackward<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Shares { groups, group_width, .. } = self.shares;
        let zero = simd.splat_f32s(0.0);
        let one_by_groups = simd.splat_f32s(1.0 / groups as f32);
        // The order of the features is that of the row, the same in all tiles.
        let order = self.tiles[0].x.order;
        let mut sums = vec![zero; group_width];
        let mut dmix = 0.0;
        for (g, group) in order.chunks_exact(group_width).enumerate() {
            sums.fill(zero);
            let mut of_mix = zero;
            for tile in self.tiles {
                let panel = S::as_simd_f32s(tile.panel).0;
                let gradient = S::as_simd_f32s(&tile.gradient).0;
                for first in (0..PANEL / S::F32_LANES).step_by(TOGETHER) {
                    let (weight, is_longest) = self.shares.of_group(simd, tile, g, first);
                    let length = union_lengths(simd, tile.x, group, panel, first, |k, step| {
                        for v in 0..TOGETHER {
                            // A piece of positive length begins here.
                            let begins = simd.and_m32s(step.starts[v], step.extends[v]);
                            sums[k] = simd.add_f32s(sums[k], simd.select_f32s(begins, weight[v], zero));
                        }
                    });
                    for v in 0..TOGETHER {
                        let max_part = simd.select_f32s(is_longest[v], length[v], zero);
                        let gap = simd.sub_f32s(max_part, simd.mul_f32s(length[v], one_by_groups));
                        of_mix = simd.mul_add_e_f32s(gradient[first + v], gap, of_mix);
                    }
                }
            }
            for (&feature, &sum) in group.iter().zip(&sums) {
                self.dx[feature as usize] -= simd.reduce_sum_f32s(sum);
            }
            dmix += f64::from(simd.reduce_sum_f32s(of_mix));
        }
        dmix
    }
}

/// Adds the gradient of one panel of `y` over its tiles to `columns`.
pub(super) struct PanelBackward<'a> {
    pub shares: Shares,
    /// The tiles of all rows, in order.
    pub tiles: &'a [Tile<'a>],
    /// `[feature][PANEL]`
    pub columns: &'a mut [f32],
}

impl WithSimd for PanelBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Shares { groups, group_width, .. } = self.shares;
        let vectors = PANEL / S::F32_LANES;
        let zero = simd.splat_f32s(0.0);
        let never = simd.greater_than_f32s(zero, zero);
        let always = simd.greater_than_or_equal_f32s(zero, zero);
        let mut steps = vec![[[never; TOGETHER]; 2]; group_width];
        let columns = S::as_mut_simd_f32s(self.columns).0;
        for g in 0..groups {
            for tile in self.tiles {
                let panel = S::as_simd_f32s(tile.panel).0;
                let group = &tile.x.order[g * group_width..(g + 1) * group_width];
                for first in (0..vectors).step_by(TOGETHER) {
                    let (weight, _) = self.shares.of_group(simd, tile, g, first);
                    union_lengths(simd, tile.x, group, panel, first, |k, step| {
                        steps[k] = [step.starts, step.extends];
                    });
                    // In reverse, whether a later interval of the same piece reaches farther.
                    let mut is_passed = [never; TOGETHER];
                    for ([starts, extends], &feature) in steps.iter().zip(group).rev() {
                        let columns = &mut columns[feature as usize * vectors + first..][..TOGETHER];
                        for v in 0..TOGETHER {
                            let not_passed = simd.xor_m32s(is_passed[v], always);
                            let stops = simd.and_m32s(extends[v], not_passed);
                            columns[v] = simd.add_f32s(columns[v], simd.select_f32s(stops, weight[v], zero));
                            let continues = simd.xor_m32s(starts[v], always);
                            is_passed[v] = simd.and_m32s(continues, simd.or_m32s(extends[v], is_passed[v]));
                        }
                    }
                }
            }
        }
    }
}
