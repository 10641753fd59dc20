//! Values and gradients of all pairs, computed in blocks of rows.
//!
//! Every output element belongs to one task and is summed in a fixed order, so results are
//! bit-identical for any number of threads. No buffer has size `n * m * width`.

use super::{
    PairForm,
    interval::{self, Shares},
    math::sum_lanes,
    matrix::{Matrix, multiply_into},
    max_l2::{self, Side},
    narrow,
    panel::{GROUP, PANEL, QUAD, Strips, transpose_in_panels},
    threads::min_tasks,
    vectorize::vectorized,
};
use pulp::Arch;
use rayon::prelude::*;
use std::ops::Range;

/// Two sets of latent rows, packed for the kernels.
pub struct Pairs<'a> {
    form: PairForm,
    x: &'a [f32],
    y: &'a [f32],
    mix: f32,
    arch: Arch,
    panels: Vec<f32>,
    order: Vec<u32>,
    /// Whether an input is not finite. Comparisons would ignore it, so its pairs are set to NaN.
    has_non_finite: bool,
}

/// The data that the forward pass of a block stores for its backward pass: for each pair and
/// component, the feature that attains the maximum and, if there is an L2 part, its inverse norm.
/// The layout is `[row group][panel][component][GROUP][PANEL]`.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    inverse_l2: Vec<f32>,
    argmax: Vec<u16>,
}

/// Gradients of a scalar with respect to the two sets of rows and the mix.
pub struct PairGradients {
    /// `[n, width]`
    pub dx: Vec<f32>,
    /// `[m, width]`
    pub dy: Vec<f32>,
    /// The gradient with respect to the mix of an interval form.
    pub dmix: f64,
}

impl Tape {
    /// Returns the size in bytes of the tape of `n x m` pairs.
    pub fn bytes(form: PairForm, n: usize, m: usize) -> usize {
        let records = n.next_multiple_of(GROUP) * m.next_multiple_of(PANEL) * form.slots();
        records * if matches!(form, PairForm::MaxL2 { .. }) { 6 } else { 2 }
    }
}

impl<'a> Pairs<'a> {
    /// Packs `x: [n, width]` and `y: [m, width]`. `mix` is that of an interval form; other forms
    /// ignore it.
    ///
    /// # Panics
    /// If a slice is empty, or its length is not a multiple of the width.
    pub fn new(form: PairForm, x: &'a [f32], y: &'a [f32], mix: f32) -> Self {
        Self::with_arch(form, x, y, mix, isochrone_core::vector_arch())
    }

    pub(super) fn with_arch(form: PairForm, x: &'a [f32], y: &'a [f32], mix: f32, arch: Arch) -> Self {
        let width = form.width();
        assert!(width > 0 && !x.is_empty() && !y.is_empty(), "x and y must not be empty: form {form:?}");
        assert!(
            x.len().is_multiple_of(width) && y.len().is_multiple_of(width),
            "the lengths of x and y must be multiples of the width {width}"
        );
        let (indices, panels, order) = match form {
            PairForm::MaxL2 { max_width, .. } => (max_width, transpose_in_panels(y, width), Vec::new()),
            PairForm::Interval { groups, group_width } => {
                (groups, transpose_in_panels(y, width), interval::sort_features(x, width, group_width))
            }
            PairForm::InnerProduct { .. } => (0, Vec::new(), Vec::new()),
        };
        assert!(indices < usize::from(u16::MAX), "indices are stored in 16 bits: {form:?}");
        let has_non_finite = !(all_finite(arch, x) && all_finite(arch, y));
        Self { form, x, y, mix, arch, panels, order, has_non_finite }
    }

    /// Returns the number of rows of `x`.
    pub fn n(&self) -> usize {
        self.x.len() / self.form.width()
    }

    /// Returns the number of rows of `y`.
    pub fn m(&self) -> usize {
        self.y.len() / self.form.width()
    }

    /// Returns the number of rows of a block whose values, gradients and tape are stored: a
    /// multiple of 16, at most `max`.
    pub(super) fn rows_per_block(&self, max: usize) -> usize {
        let row_bytes = 2 * self.m() * size_of::<f32>() + Tape::bytes(self.form, GROUP, self.m()) / GROUP;
        (MAX_BLOCK_BYTES / row_bytes).clamp(GROUP, max) / GROUP * GROUP
    }

    /// Returns packed copies of `x` and `y`, which only [`Pairs::backward`] needs.
    pub(super) fn pack_for_backward(&self) -> [Strips; 2] {
        let spans = match self.form {
            PairForm::MaxL2 { components, max_width, l2_width } => {
                let widths = max_l2::Widths { components, max_width, l2_width };
                if narrow::is_narrow(widths) { Vec::new() } else { widths.l2_spans() }
            }
            _ => Vec::new(),
        };
        [self.x, self.y].map(|rows| Strips::pack(rows, self.form.width(), &spans))
    }

    /// Returns zero gradients with the shapes of this problem.
    pub(super) fn zero_gradients(&self) -> PairGradients {
        PairGradients { dx: vec![0.0; self.x.len()], dy: vec![0.0; self.y.len()], dmix: 0.0 }
    }

    /// Writes the values of the rows `rows` against all columns to `out: [rows, m]`. With a tape,
    /// `rows` must start at a multiple of 16.
    pub fn forward(&self, rows: Range<usize>, out: &mut [f32], tape: Option<&mut Tape>) {
        self.forward_finite(rows.clone(), out, tape);
        if self.has_non_finite {
            let width = self.form.width();
            let is_non_finite = |row: &[f32]| row.iter().any(|v| !v.is_finite());
            let columns: Vec<bool> = self.y.chunks_exact(width).map(is_non_finite).collect();
            for (row, out) in rows.zip(out.chunks_exact_mut(columns.len())) {
                let row = is_non_finite(self.row(row));
                let pairs = out.iter_mut().zip(&columns).filter(|(_, column)| row || **column);
                pairs.for_each(|(value, _)| *value = f32::NAN);
            }
        }
    }

    fn forward_finite(&self, rows: Range<usize>, out: &mut [f32], tape: Option<&mut Tape>) {
        let m = self.m();
        assert_eq!(out.len(), rows.len() * m);
        if let PairForm::InnerProduct { width } = self.form {
            let x = Matrix::new(&self.x[rows.start * width..rows.end * width], width);
            multiply_into(x, Matrix::new(self.y, width).transposed(), out, false);
            return;
        }
        let min_tasks = min_tasks(2 * rows.len() * m * self.form.width());
        let outs = out.par_chunks_mut(GROUP * m).with_min_len(min_tasks).enumerate();
        let Some(tape) = tape else {
            outs.for_each(|(group, out)| self.forward_group(rows.start + group * GROUP, out, None));
            return;
        };
        let records = GROUP * m.next_multiple_of(PANEL) * self.form.slots();
        let groups = rows.len().div_ceil(GROUP);
        tape.argmax.resize(groups * records, 0);
        if matches!(self.form, PairForm::MaxL2 { .. }) {
            tape.inverse_l2.resize(groups * records, 0.0);
        }
        let mut inverse_l2 = tape.inverse_l2.chunks_mut(records);
        let argmax = tape.argmax.chunks_mut(records);
        // An interval form has no L2 part, and its slices are not read.
        let tapes: Vec<_> = argmax.map(|argmax| (inverse_l2.next().unwrap_or_default(), argmax)).collect();
        outs.zip(tapes).for_each(|((group, out), tape)| {
            self.forward_group(rows.start + group * GROUP, out, Some(tape));
        });
    }

    /// Computes up to [`GROUP`] rows, starting at `first`, against all panels.
    fn forward_group(&self, first: usize, out: &mut [f32], mut tape: Option<(&mut [f32], &mut [u16])>) {
        let (width, m) = (self.form.width(), self.m());
        let rows = out.len() / m;
        // The tape is written including its padding, because the buffer may be reused.
        let recorded = if tape.is_some() { GROUP } else { rows };
        let size = self.form.slots() * GROUP * PANEL;
        for (p, panel) in self.panels.chunks_exact(width * PANEL).enumerate() {
            let columns = PANEL.min(m - p * PANEL);
            let records = p * size..(p + 1) * size;
            match self.form {
                PairForm::MaxL2 { components, max_width, l2_width } => {
                    for quad in (0..recorded).step_by(QUAD) {
                        let mut values = [[0.0; PANEL]; QUAD];
                        self.arch.dispatch(max_l2::ForwardTile {
                            widths: max_l2::Widths { components, max_width, l2_width },
                            x: std::array::from_fn(|q| self.row(first + (quad + q).min(rows - 1))),
                            panel,
                            out: &mut values,
                            tape: tape.as_mut().map(|(inverse_l2, argmax)| {
                                (&mut inverse_l2[records.clone()], &mut argmax[records.clone()], quad)
                            }),
                        });
                        for (row, values) in (quad..rows).zip(&values) {
                            out[row * m + p * PANEL..][..columns].copy_from_slice(&values[..columns]);
                        }
                    }
                }
                PairForm::Interval { group_width, .. } => {
                    for row in 0..recorded {
                        let mut values = [0.0; PANEL];
                        self.arch.dispatch(interval::ForwardTile {
                            group_width,
                            mix: self.mix,
                            x: self.sorted_row(first + row.min(rows - 1)),
                            panel,
                            out: &mut values,
                            longest: tape
                                .as_mut()
                                .map(|(_, argmax)| &mut argmax[records.clone()][row * PANEL..][..PANEL]),
                        });
                        if row < rows {
                            out[row * m + p * PANEL..][..columns].copy_from_slice(&values[..columns]);
                        }
                    }
                }
                PairForm::InnerProduct { .. } => unreachable!("inner products are matrix products"),
            }
        }
    }

    fn row(&self, index: usize) -> &[f32] {
        &self.x[index * self.form.width()..][..self.form.width()]
    }

    fn sorted_row(&self, index: usize) -> interval::SortedRow<'_> {
        let order = &self.order[index * self.form.width()..][..self.form.width()];
        interval::SortedRow { values: self.row(index), order }
    }

    /// Adds the gradients of `sum_ij gradient_ij * value_ij` over a block to `sums`, in which the
    /// gradients of these rows of `x` must still be zero.
    ///
    /// `gradient: [rows, m]`. `rows` must be the range that was passed to [`Pairs::forward`] with
    /// `tape`.
    pub(super) fn backward(
        &self,
        rows: Range<usize>,
        gradient: &[f32],
        tape: &Tape,
        pack: &[Strips; 2],
        sums: &mut PairGradients,
    ) {
        let (width, m) = (self.form.width(), self.m());
        assert_eq!(gradient.len(), rows.len() * m);
        let dx = &mut sums.dx[rows.start * width..rows.end * width];
        let block = Block { pairs: self, rows, gradient, tape, pack };
        let min_tasks = min_tasks(2 * block.rows.len() * m * width);
        let groups = dx.par_chunks_mut(GROUP * width).with_min_len(min_tasks).enumerate();
        let panels = sums.dy.par_chunks_mut(PANEL * width).with_min_len(min_tasks).enumerate();
        match self.form {
            PairForm::MaxL2 { components, max_width, l2_width } => {
                let widths = max_l2::Widths { components, max_width, l2_width };
                if narrow::is_narrow(widths) {
                    groups.for_each(|(group, dx)| block.narrow_rows(widths, group, dx));
                    panels.for_each(|(panel, dy)| block.narrow_columns(widths, panel, dy));
                } else {
                    groups.for_each(|(group, dx)| block.max_l2(widths, Side::Rows, group, dx));
                    panels.for_each(|(panel, dy)| block.max_l2(widths, Side::Columns, panel, dy));
                }
            }
            PairForm::Interval { groups: count, group_width } => {
                let shares = Shares { groups: count, group_width, mix: self.mix };
                let dmix = groups.map(|(group, dx)| block.interval_rows(shares, group, dx));
                sums.dmix += dmix.collect::<Vec<f64>>().iter().sum::<f64>();
                panels.for_each(|(panel, dy)| block.interval_columns(shares, panel, dy));
            }
            PairForm::InnerProduct { width } => {
                let gradient = Matrix::new(gradient, m);
                multiply_into(gradient, Matrix::new(self.y, width), dx, false);
                let x = Matrix::new(&self.x[block.rows.start * width..block.rows.end * width], width);
                multiply_into(gradient.transposed(), x, &mut sums.dy, true);
            }
        }
    }
}

vectorized! {
    fn all_finite(values: &'a [f32]) -> bool {
        // 0 * v is NaN exactly if v is not finite.
        sum_lanes(values, |v| v * 0.0) == 0.0
    }
}

/// One block of the backward pass.
struct Block<'a> {
    pairs: &'a Pairs<'a>,
    rows: Range<usize>,
    gradient: &'a [f32],
    tape: &'a Tape,
    pack: &'a [Strips; 2],
}

impl Block<'_> {
    fn panels(&self) -> usize {
        self.pairs.m().div_ceil(PANEL)
    }

    /// Returns the gradients of one row of a panel: [`PANEL`] values, or fewer in the last panel.
    fn gradient(&self, row: usize, panel: usize) -> &[f32] {
        let m = self.pairs.m();
        &self.gradient[row * m..(row + 1) * m][panel * PANEL..m.min((panel + 1) * PANEL)]
    }

    /// Returns the range of the records of one tile.
    fn records(&self, group: usize, panel: usize) -> Range<usize> {
        let size = self.pairs.form.slots() * GROUP * PANEL;
        let tile = group * self.panels() + panel;
        tile * size..(tile + 1) * size
    }

    /// Adds the gradient with respect to the rows of group `index`, or the columns of panel
    /// `index`.
    fn max_l2(&self, widths: max_l2::Widths, side: Side, index: usize, out: &mut [f32]) {
        let [x, y] = self.pack;
        let start = self.rows.start;
        let (own, other, tiles): (_, _, Vec<(usize, usize)>) = match side {
            Side::Rows => {
                let tiles = (0..self.panels()).map(|panel| (index, panel)).collect();
                ((x, start + index * GROUP), (y, 0), tiles)
            }
            Side::Columns => {
                let tiles = (0..self.rows.len().div_ceil(GROUP)).map(|group| (group, index)).collect();
                ((y, index * PANEL), (x, start), tiles)
            }
        };
        let mut gradient = vec![0.0; tiles.len() * GROUP * PANEL];
        for (&(group, panel), tile) in tiles.iter().zip(gradient.chunks_exact_mut(GROUP * PANEL)) {
            for (row, to) in (group * GROUP..self.rows.len()).zip(tile.chunks_exact_mut(PANEL)) {
                let from = self.gradient(row, panel);
                to[..from.len()].copy_from_slice(from);
            }
        }
        let tiles = tiles.into_iter().map(|(group, panel)| self.records(group, panel));
        let tiles = tiles.map(|records| max_l2::BackwardTile {
            inverse_l2: &self.tape.inverse_l2[records.clone()],
            argmax: &self.tape.argmax[records],
        });
        let tiles: Vec<_> = tiles.collect();
        max_l2::backward(self.pairs.arch, widths, side, &gradient, &tiles, own, other, out);
    }

    /// Returns the gradients of one row of a panel, zero on padding.
    fn padded_gradient(&self, row: usize, panel: usize) -> [f32; PANEL] {
        let mut gradient = [0.0; PANEL];
        let from = self.gradient(row, panel);
        gradient[..from.len()].copy_from_slice(from);
        gradient
    }

    /// Returns one panel of `y`, `[feature][PANEL]`.
    fn panel(&self, index: usize) -> &[f32] {
        let size = self.pairs.form.width() * PANEL;
        &self.pairs.panels[index * size..(index + 1) * size]
    }

    /// Adds a panel of gradients, `[feature][PANEL]`, to those of its columns.
    fn add_columns(&self, columns: &[f32], dy: &mut [f32]) {
        for (lane, dy) in dy.chunks_exact_mut(self.pairs.form.width()).enumerate() {
            dy.iter_mut().zip(columns.chunks_exact(PANEL)).for_each(|(to, from)| *to += from[lane]);
        }
    }

    /// Returns one row of the block against one panel.
    fn narrow_tile(&self, row: usize, panel: usize) -> narrow::Tile<'_> {
        let records = self.records(row / GROUP, panel);
        // Without an L2 part, its records are not read.
        let inverse_l2 = self.tape.inverse_l2.get(records.clone()).unwrap_or_default();
        let tape = max_l2::BackwardTile { inverse_l2, argmax: &self.tape.argmax[records] };
        narrow::Tile {
            x: self.pairs.row(self.rows.start + row),
            panel: self.panel(panel),
            gradient: self.padded_gradient(row, panel),
            tape: (tape, row % GROUP),
        }
    }

    /// Adds the gradient of a group of rows over all panels, in order.
    fn narrow_rows(&self, widths: max_l2::Widths, group: usize, dx: &mut [f32]) {
        for (row, dx) in (group * GROUP..).zip(dx.chunks_exact_mut(self.pairs.form.width())) {
            let tiles: Vec<_> = (0..self.panels()).map(|panel| self.narrow_tile(row, panel)).collect();
            self.pairs.arch.dispatch(narrow::RowBackward { widths, tiles: &tiles, dx });
        }
    }

    /// Adds the gradient of one panel of columns over all rows, in order.
    fn narrow_columns(&self, widths: max_l2::Widths, panel: usize, dy: &mut [f32]) {
        let mut columns = vec![0.0; self.pairs.form.width() * PANEL];
        let tiles: Vec<_> = (0..self.rows.len()).map(|row| self.narrow_tile(row, panel)).collect();
        self.pairs.arch.dispatch(narrow::PanelBackward { widths, tiles: &tiles, columns: &mut columns });
        self.add_columns(&columns, dy);
    }

    /// Returns one row of the block against one panel.
    fn interval_tile(&self, row: usize, panel: usize) -> interval::Tile<'_> {
        let longest = &self.tape.argmax[self.records(row / GROUP, panel)][row % GROUP * PANEL..][..PANEL];
        interval::Tile {
            x: self.pairs.sorted_row(self.rows.start + row),
            panel: self.panel(panel),
            gradient: self.padded_gradient(row, panel),
            longest: std::array::from_fn(|lane| u32::from(longest[lane])),
        }
    }

    /// Adds the gradient of a group of rows over all panels, in order. Returns the gradient of the
    /// mix.
    fn interval_rows(&self, shares: Shares, group: usize, dx: &mut [f32]) -> f64 {
        let rows = (group * GROUP..).zip(dx.chunks_exact_mut(self.pairs.form.width()));
        let dmix = rows.map(|(row, dx)| {
            let tiles: Vec<_> = (0..self.panels()).map(|panel| self.interval_tile(row, panel)).collect();
            self.pairs.arch.dispatch(interval::RowBackward { shares, tiles: &tiles, dx })
        });
        dmix.sum()
    }

    /// Adds the gradient of one panel of columns over all rows, in order.
    fn interval_columns(&self, shares: Shares, panel: usize, dy: &mut [f32]) {
        let mut columns = vec![0.0; self.pairs.form.width() * PANEL];
        let tiles: Vec<_> = (0..self.rows.len()).map(|row| self.interval_tile(row, panel)).collect();
        self.pairs.arch.dispatch(interval::PanelBackward { shares, tiles: &tiles, columns: &mut columns });
        self.add_columns(&columns, dy);
    }
}

/// The number of rows of a block when the forward pass is recomputed in the backward pass.
const RECOMPUTED_ROWS: usize = 64;
/// The maximum size of the values, gradients and tape of a recomputed block, unless 16 rows need
/// more.
const MAX_BLOCK_BYTES: usize = 32 << 20;

/// Returns all values, `[n, m]`.
pub fn all_pairs(pairs: &Pairs, tape: Option<&mut Tape>) -> Vec<f32> {
    let mut values = vec![0.0; pairs.n() * pairs.m()];
    pairs.forward(0..pairs.n(), &mut values, tape);
    values
}

/// Returns the gradients of `sum_ij gradient_ij value_ij`. Without a tape, the forward pass is
/// recomputed block by block.
pub fn all_pairs_backward(pairs: &Pairs, gradient: &[f32], tape: Option<&Tape>) -> PairGradients {
    let pack = pairs.pack_for_backward();
    let mut sums = pairs.zero_gradients();
    if let Some(tape) = tape {
        pairs.backward(0..pairs.n(), gradient, tape, &pack, &mut sums);
        return sums;
    }
    let m = pairs.m();
    let mut tape = Tape::default();
    let mut values = Vec::new();
    let block = pairs.rows_per_block(RECOMPUTED_ROWS);
    for start in (0..pairs.n()).step_by(block) {
        let rows = start..pairs.n().min(start + block);
        values.resize(rows.len() * m, 0.0);
        pairs.forward(rows.clone(), &mut values, Some(&mut tape));
        pairs.backward(rows.clone(), &gradient[rows.start * m..rows.end * m], &tape, &pack, &mut sums);
    }
    sums
}
