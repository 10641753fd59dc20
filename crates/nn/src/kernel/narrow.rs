//! The backward pass of the max-relu + L2 quasimetric with narrow components.
//!
//! A component of a few features fills no vector of features. Here the lanes are columns instead: a
//! task sums the gradients of one row, or of one vector of columns, for all features of a component
//! at once.

use super::{
    max_l2::{BackwardTile, Widths},
    panel::{GROUP, PANEL},
};
use pulp::{Simd, WithSimd};

/// The maximum width of each part of a component.
const MAX_WIDTH: usize = 8;

/// Whether components of these widths are narrow.
pub(super) fn is_narrow(widths: Widths) -> bool {
    widths.max_width <= MAX_WIDTH && widths.l2_width <= MAX_WIDTH
}

/// One row of `x` and one panel of `y`.
pub(super) struct Tile<'a> {
    /// `[width]`
    pub x: &'a [f32],
    /// `[feature][PANEL]`
    pub panel: &'a [f32],
    /// The upstream gradient, zero on padding.
    pub gradient: [f32; PANEL],
    /// The tape of the group of the row, and the index of the row in it.
    pub tape: (BackwardTile<'a>, usize),
}

/// Runs a task with the widths of the presets as constants, so that its sums stay in registers.
macro_rules! with_constant_widths {
    ($task:ident, $simd:ident) => {
        match ($task.widths.max_width, $task.widths.l2_width) {
            (4, 4) => $task.run::<S, 4>($simd),
            (8, 8) => $task.run::<S, 8>($simd),
            _ => $task.run::<S, 0>($simd),
        }
    };
}

/// Returns the widths of both parts of a component, which are `WIDTH` if it is not 0.
#[inline(always)]
fn part_widths<const WIDTH: usize>(widths: Widths) -> (usize, usize) {
    if WIDTH > 0 { (WIDTH, WIDTH) } else { (widths.max_width, widths.l2_width) }
}

/// The sums of one component: of the features of the maximum and of those of the L2 part.
type Sums<S> = [[<S as Simd>::f32s; MAX_WIDTH]; 2];

impl Tile<'_> {
    /// Adds the gradients with respect to `x` of vector `v` of the columns.
    #[inline(always)]
    fn add<S: Simd, const WIDTH: usize>(
        &self,
        simd: S,
        widths: Widths,
        component: usize,
        v: usize,
        sums: &mut Sums<S>,
    ) {
        let (max_width, l2_width) = part_widths::<WIDTH>(widths);
        let vectors = PANEL / S::F32_LANES;
        let start = component * (max_width + l2_width);
        let (tape, row) = &self.tape;
        let at = (component * GROUP + row) * PANEL + v * S::F32_LANES;
        let mut index = [0u32; PANEL];
        let argmax = &tape.argmax[at..at + S::F32_LANES];
        index.iter_mut().zip(argmax).for_each(|(to, &from)| *to = u32::from(from));
        let index = S::as_simd_u32s(&index[..S::F32_LANES]).0[0];
        let zero = simd.splat_f32s(0.0);
        let scale = simd.splat_f32s(1.0 / widths.components as f32);
        let gradient = simd.mul_f32s(S::as_simd_f32s(&self.gradient).0[v], scale);
        let [of_max, of_l2] = sums;
        for f in 0..max_width {
            let is_max = simd.equal_u32s(index, simd.splat_u32s(f as u32));
            of_max[f] = simd.add_f32s(of_max[f], simd.select_f32s(is_max, gradient, zero));
        }
        if l2_width == 0 {
            return;
        }
        let inverse = S::as_simd_f32s(&tape.inverse_l2[at..at + S::F32_LANES]).0[0];
        let weight = simd.mul_f32s(gradient, inverse);
        let first = start + max_width;
        let x = &self.x[first..first + l2_width];
        let panel = &S::as_simd_f32s(self.panel).0[first * vectors..(first + l2_width) * vectors];
        for f in 0..l2_width {
            let difference = simd.sub_f32s(simd.splat_f32s(x[f]), panel[f * vectors + v]);
            of_l2[f] = simd.mul_add_e_f32s(weight, difference, of_l2[f]);
        }
    }
}

/// Adds the gradient of one row of `x` over its tiles to `dx`.
pub(super) struct RowBackward<'a> {
    pub widths: Widths,
    /// The tiles of all panels.
    pub tiles: &'a [Tile<'a>],
    /// `[width]`
    pub dx: &'a mut [f32],
}

impl WithSimd for RowBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_constant_widths!(self, simd);
    }
}

impl RowBackward<'_> {
    #[inline(always)]
    fn run<S: Simd, const WIDTH: usize>(self, simd: S) {
        let (max_width, l2_width) = part_widths::<WIDTH>(self.widths);
        for component in 0..self.widths.components {
            let mut sums: Sums<S> = [[simd.splat_f32s(0.0); MAX_WIDTH]; 2];
            for tile in self.tiles {
                for v in 0..PANEL / S::F32_LANES {
                    tile.add::<S, WIDTH>(simd, self.widths, component, v, &mut sums);
                }
            }
            let dx = &mut self.dx[component * (max_width + l2_width)..][..max_width + l2_width];
            let sums = sums[0][..max_width].iter().chain(&sums[1][..l2_width]);
            dx.iter_mut().zip(sums).for_each(|(to, &sum)| *to += simd.reduce_sum_f32s(sum));
        }
    }
}

/// Adds the gradient of one panel of `y` over its tiles to `columns`.
pub(super) struct PanelBackward<'a> {
    pub widths: Widths,
    /// The tiles of all rows, in order.
    pub tiles: &'a [Tile<'a>],
    /// `[feature][PANEL]`
    pub columns: &'a mut [f32],
}

impl WithSimd for PanelBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_constant_widths!(self, simd);
    }
}

impl PanelBackward<'_> {
    #[inline(always)]
    fn run<S: Simd, const WIDTH: usize>(self, simd: S) {
        let (max_width, l2_width) = part_widths::<WIDTH>(self.widths);
        let vectors = PANEL / S::F32_LANES;
        let columns = S::as_mut_simd_f32s(self.columns).0;
        for component in 0..self.widths.components {
            for v in 0..vectors {
                let mut sums: Sums<S> = [[simd.splat_f32s(0.0); MAX_WIDTH]; 2];
                for tile in self.tiles {
                    tile.add::<S, WIDTH>(simd, self.widths, component, v, &mut sums);
                }
                let first = component * (max_width + l2_width);
                let sums = sums[0][..max_width].iter().chain(&sums[1][..l2_width]);
                for (f, &sum) in sums.enumerate() {
                    let to = &mut columns[(first + f) * vectors + v];
                    *to = simd.sub_f32s(*to, sum);
                }
            }
        }
    }
}
