//! All pairs, a block of rows at a time: what the operations are built from.
//!
//! Every output element is owned by one task and summed in a fixed order, so the bits do not depend on the number of
//! threads. Nothing of size `n * m * width` is ever held.

use super::{
    PairForm, interval,
    math::sum_lanes,
    matrix::{Matrix, multiply_into},
    max_l2,
    panel::{GROUP, PANEL, QUAD, Strips, transpose_in_panels},
    vectorise::vectorised,
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
    /// Some number is not finite: comparisons would pass over it, so its pairs are set to NaN.
    broken: bool,
}

/// Packed copies that only the backward pass needs.
pub struct BackwardPack {
    x: Strips,
    y: Strips,
}

/// What the forward pass of a block leaves for its backward pass: for each pair and component, the winning feature and,
/// where there is an L2 part, its inverse length. Laid out `[row group][panel][component][GROUP][PANEL]`.
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
    /// With respect to the mix of an interval form.
    pub dmix: f64,
}

impl Tape {
    /// Bytes that the tape of `n x m` pairs takes.
    pub fn bytes(form: PairForm, n: usize, m: usize) -> usize {
        let records = n.next_multiple_of(GROUP) * m.next_multiple_of(PANEL) * form.slots();
        records * if matches!(form, PairForm::MaxL2 { .. }) { 6 } else { 2 }
    }
}

impl<'a> Pairs<'a> {
    /// Packs `x: [n, width]` and `y: [m, width]`; `mix` is that of an interval form and ignored by others.
    ///
    /// # Panics
    /// If the slices do not hold whole rows, or are empty.
    pub fn new(form: PairForm, x: &'a [f32], y: &'a [f32], mix: f32) -> Self {
        Self::with_arch(form, x, y, mix, Arch::new())
    }

    pub(super) fn with_arch(form: PairForm, x: &'a [f32], y: &'a [f32], mix: f32, arch: Arch) -> Self {
        let width = form.width();
        assert!(width > 0 && !x.is_empty() && !y.is_empty(), "pairs of nothing: form {form:?}");
        assert!(
            x.len().is_multiple_of(width) && y.len().is_multiple_of(width),
            "rows of another width than {width}"
        );
        let indices = match form {
            PairForm::MaxL2 { max_width, .. } => max_width,
            PairForm::Interval { groups, .. } => groups,
            PairForm::InnerProduct { .. } => 0,
        };
        assert!(indices < usize::from(u16::MAX), "winners are recorded in 16 bits: {form:?}");
        let (panels, order) = match form {
            PairForm::InnerProduct { .. } => (Vec::new(), Vec::new()),
            PairForm::MaxL2 { .. } => (transpose_in_panels(y, width), Vec::new()),
            PairForm::Interval { groups, group_width } => {
                let widths = interval::Widths { groups, group_width };
                (transpose_in_panels(y, width), interval::sort_features(x, widths))
            }
        };
        let broken = !(all_finite(arch, x) && all_finite(arch, y));
        Self { form, x, y, mix, arch, panels, order, broken }
    }

    /// Rows of `x`.
    pub fn n(&self) -> usize {
        self.x.len() / self.form.width()
    }

    /// Rows of `y`.
    pub fn m(&self) -> usize {
        self.y.len() / self.form.width()
    }

    /// Rows of a block of which everything is held: at most `most`, a multiple of 16.
    pub(super) fn rows_per_block(&self, most: usize) -> usize {
        let row_bytes = 2 * self.m() * size_of::<f32>() + Tape::bytes(self.form, GROUP, self.m()) / GROUP;
        (LARGEST_BLOCK_BYTES / row_bytes).clamp(GROUP, most) / GROUP * GROUP
    }

    /// Packs what [`Pairs::backward`] reads besides.
    pub fn pack_for_backward(&self) -> BackwardPack {
        let spans = match self.form {
            PairForm::MaxL2 { components, max_width, l2_width } => {
                max_l2::Widths { components, max_width, l2_width }.l2_spans()
            }
            _ => Vec::new(),
        };
        let width = self.form.width();
        BackwardPack { x: Strips::pack(self.x, width, &spans), y: Strips::pack(self.y, width, &spans) }
    }

    /// Gradients of this problem, all zero.
    pub fn zero_gradients(&self) -> PairGradients {
        PairGradients { dx: vec![0.0; self.x.len()], dy: vec![0.0; self.y.len()], dmix: 0.0 }
    }

    /// Values of the rows `rows` against all columns into `out: [rows, m]`; `rows` starts at a multiple of 16 when it is recorded.
    pub fn forward(&self, rows: Range<usize>, out: &mut [f32], tape: Option<&mut Tape>) {
        self.forward_finite(rows.clone(), out, tape);
        if self.broken {
            let width = self.form.width();
            let is_broken = |row: &[f32]| row.iter().any(|v| !v.is_finite());
            let columns: Vec<bool> = self.y.chunks_exact(width).map(is_broken).collect();
            for (row, out) in rows.zip(out.chunks_exact_mut(columns.len())) {
                let row = is_broken(self.row(row));
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
        let Some(tape) = tape else {
            out.par_chunks_mut(GROUP * m).enumerate().for_each(|(group, out)| {
                self.forward_group(rows.start + group * GROUP, out, None);
            });
            return;
        };
        let records = GROUP * m.next_multiple_of(PANEL) * self.form.slots();
        let groups = rows.len().div_ceil(GROUP);
        tape.argmax.resize(groups * records, 0);
        let group_argmax = tape.argmax.par_chunks_mut(records);
        let outs = out.par_chunks_mut(GROUP * m).enumerate();
        if matches!(self.form, PairForm::MaxL2 { .. }) {
            tape.inverse_l2.resize(groups * records, 0.0);
            let tapes = tape.inverse_l2.par_chunks_mut(records).zip(group_argmax);
            outs.zip(tapes).for_each(|((group, out), (inverse_l2, argmax))| {
                self.forward_group(rows.start + group * GROUP, out, Some((inverse_l2, argmax)));
            });
        } else {
            outs.zip(group_argmax).for_each(|((group, out), argmax)| {
                self.forward_group(rows.start + group * GROUP, out, Some((&mut [], argmax)));
            });
        }
    }

    /// Up to [`GROUP`] rows from `first` on against all panels.
    fn forward_group(&self, first: usize, out: &mut [f32], mut tape: Option<(&mut [f32], &mut [u16])>) {
        let (width, m) = (self.form.width(), self.m());
        let rows = out.len() / m;
        // A tape is written whole, its padding too: the buffer may be an old one.
        let recorded = if tape.is_some() { GROUP } else { rows };
        for (p, panel) in self.panels.chunks_exact(width * PANEL).enumerate() {
            let columns = PANEL.min(m - p * PANEL);
            let records = p * self.form.slots() * GROUP * PANEL..(p + 1) * self.form.slots() * GROUP * PANEL;
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
                                let tile = max_l2::TapeTile {
                                    inverse_l2: &mut inverse_l2[records.clone()],
                                    argmax: &mut argmax[records.clone()],
                                };
                                (tile, quad)
                            }),
                        });
                        for (row, values) in (quad..rows).zip(&values) {
                            out[row * m + p * PANEL..][..columns].copy_from_slice(&values[..columns]);
                        }
                    }
                }
                PairForm::Interval { groups, group_width } => {
                    for row in 0..recorded {
                        let mut values = [0.0; PANEL];
                        self.arch.dispatch(interval::ForwardTile {
                            widths: interval::Widths { groups, group_width },
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

    /// Adds to `sums` (where the rows of `x` must still be zero) the gradients of `sum_ij gradient_ij * value_ij` over a block whose forward pass was recorded.
    ///
    /// `gradient: [rows, m]`. `rows` must be the range given to [`Pairs::forward`] with `tape`.
    pub fn backward(
        &self,
        rows: Range<usize>,
        gradient: &[f32],
        tape: &Tape,
        pack: &BackwardPack,
        sums: &mut PairGradients,
    ) {
        let (width, m) = (self.form.width(), self.m());
        assert_eq!(gradient.len(), rows.len() * m);
        let dx = &mut sums.dx[rows.start * width..rows.end * width];
        let block = Block { pairs: self, rows, gradient, tape, pack };
        match self.form {
            PairForm::MaxL2 { components, max_width, l2_width } => {
                let widths = max_l2::Widths { components, max_width, l2_width };
                dx.par_chunks_mut(GROUP * width)
                    .enumerate()
                    .for_each(|(group, dx)| block.max_l2_rows(widths, group, dx));
                sums.dy
                    .par_chunks_mut(PANEL * width)
                    .enumerate()
                    .for_each(|(p, dy)| block.max_l2_columns(widths, p, dy));
            }
            PairForm::Interval { groups, group_width } => {
                let widths = interval::Widths { groups, group_width };
                let groups = dx.par_chunks_mut(GROUP * width).enumerate();
                let dmix: Vec<f64> =
                    groups.map(|(group, dx)| block.interval_rows(widths, group, dx)).collect();
                sums.dmix += dmix.iter().sum::<f64>();
                sums.dy
                    .par_chunks_mut(PANEL * width)
                    .enumerate()
                    .for_each(|(p, dy)| block.interval_columns(widths, p, dy));
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

vectorised! {
    fn all_finite(values: &'a [f32]) -> bool {
        // 0 * v is NaN exactly where v is not finite.
        sum_lanes(values, |v| v * 0.0) == 0.0
    }
}

/// One block of the backward pass.
struct Block<'a> {
    pairs: &'a Pairs<'a>,
    rows: Range<usize>,
    gradient: &'a [f32],
    tape: &'a Tape,
    pack: &'a BackwardPack,
}

impl Block<'_> {
    fn panels(&self) -> usize {
        self.pairs.m().div_ceil(PANEL)
    }

    fn groups(&self) -> usize {
        self.rows.len().div_ceil(GROUP)
    }

    /// Copies one tile of the gradient to `[GROUP][PANEL]`, zero where there is no pair.
    fn copy_gradient(&self, group: usize, panel: usize, to: &mut [f32]) {
        let m = self.pairs.m();
        let columns = PANEL.min(m - panel * PANEL);
        for (row, to) in (group * GROUP..self.rows.len()).zip(to.chunks_exact_mut(PANEL)) {
            to[..columns].copy_from_slice(&self.gradient[row * m + panel * PANEL..][..columns]);
        }
    }

    /// The gradient of the tiles of one row group, `[panel][GROUP][PANEL]`.
    fn gradient_of_group(&self, group: usize) -> Vec<f32> {
        let mut tiles = vec![0.0; self.panels() * GROUP * PANEL];
        let each = tiles.chunks_exact_mut(GROUP * PANEL).enumerate();
        each.for_each(|(panel, tile)| self.copy_gradient(group, panel, tile));
        tiles
    }

    /// The gradient of the tiles of one panel, `[row group][GROUP][PANEL]`.
    fn gradient_of_panel(&self, panel: usize) -> Vec<f32> {
        let mut tiles = vec![0.0; self.groups() * GROUP * PANEL];
        let each = tiles.chunks_exact_mut(GROUP * PANEL).enumerate();
        each.for_each(|(group, tile)| self.copy_gradient(group, panel, tile));
        tiles
    }

    /// The records of one tile.
    fn records(&self, group: usize, panel: usize) -> Range<usize> {
        let size = self.pairs.form.slots() * GROUP * PANEL;
        let tile = group * self.panels() + panel;
        tile * size..(tile + 1) * size
    }

    fn max_l2_tile(&self, group: usize, panel: usize) -> max_l2::BackwardTile<'_> {
        let records = self.records(group, panel);
        max_l2::BackwardTile {
            inverse_l2: &self.tape.inverse_l2[records.clone()],
            argmax: &self.tape.argmax[records],
        }
    }

    fn max_l2_rows(&self, widths: max_l2::Widths, group: usize, dx: &mut [f32]) {
        let tiles: Vec<_> = (0..self.panels()).map(|panel| self.max_l2_tile(group, panel)).collect();
        let own = (&self.pack.x, self.rows.start + group * GROUP);
        let gradient = self.gradient_of_group(group);
        max_l2::backward(
            self.pairs.arch,
            widths,
            max_l2::Side::Rows,
            &gradient,
            &tiles,
            own,
            (&self.pack.y, 0),
            dx,
        );
    }

    fn max_l2_columns(&self, widths: max_l2::Widths, panel: usize, dy: &mut [f32]) {
        let tiles: Vec<_> = (0..self.groups()).map(|group| self.max_l2_tile(group, panel)).collect();
        let other = (&self.pack.x, self.rows.start);
        let gradient = self.gradient_of_panel(panel);
        let own = (&self.pack.y, panel * PANEL);
        max_l2::backward(self.pairs.arch, widths, max_l2::Side::Columns, &gradient, &tiles, own, other, dy);
    }

    fn interval_rows(&self, widths: interval::Widths, group: usize, dx: &mut [f32]) -> f64 {
        let first = self.rows.start + group * GROUP;
        let rows: Vec<_> =
            (first..self.rows.end.min(first + GROUP)).map(|row| self.pairs.sorted_row(row)).collect();
        let tiles: Vec<_> =
            (0..self.panels()).map(|panel| &self.tape.argmax[self.records(group, panel)]).collect();
        let gradient = self.gradient_of_group(group);
        interval::backward_rows(
            self.pairs.arch,
            widths,
            self.pairs.mix,
            &rows,
            &self.pairs.panels,
            &gradient,
            &tiles,
            dx,
        )
    }

    fn interval_columns(&self, widths: interval::Widths, panel: usize, dy: &mut [f32]) {
        let rows: Vec<_> = self.rows.clone().map(|row| self.pairs.sorted_row(row)).collect();
        let tiles: Vec<_> =
            (0..self.groups()).map(|group| &self.tape.argmax[self.records(group, panel)]).collect();
        let gradient = self.gradient_of_panel(panel);
        let size = self.pairs.form.width() * PANEL;
        let values = &self.pairs.panels[panel * size..(panel + 1) * size];
        interval::backward_columns(
            self.pairs.arch,
            widths,
            self.pairs.mix,
            &rows,
            values,
            &gradient,
            &tiles,
            dy,
        );
    }
}

/// Rows of a block when the forward pass is repeated instead of recorded.
const RECOMPUTED_ROWS: usize = 64;
/// What values, gradients and tape of a repeated block may take, unless 16 rows take more.
const LARGEST_BLOCK_BYTES: usize = 32 << 20;

/// All values: `[n, m]`.
pub fn all_pairs(pairs: &Pairs, tape: Option<&mut Tape>) -> Vec<f32> {
    let mut values = vec![0.0; pairs.n() * pairs.m()];
    pairs.forward(0..pairs.n(), &mut values, tape);
    values
}

/// Gradients of `sum_ij gradient_ij value_ij`; without a tape the forward pass is repeated block by block.
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
