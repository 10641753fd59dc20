//! Copies of the latent rows in the order in which the kernels read them.

use rayon::prelude::*;

/// Columns (rows of `y`) that are processed side by side, one per vector lane.
pub(super) const PANEL: usize = 32;
/// Rows of `x` that one task owns.
pub(super) const GROUP: usize = 16;
/// Rows whose accumulators are held in registers together.
pub(super) const QUAD: usize = 4;
/// Features that are processed side by side in the backward pass.
pub(super) const STRIP: usize = 32;

/// `y` transposed in panels: feature `f` of column `panel * PANEL + lane` is at `(panel * width + f) * PANEL + lane`.
///
/// The last panel repeats the last column; its results are dropped.
pub(super) fn transpose_in_panels(y: &[f32], width: usize) -> Vec<f32> {
    let m = y.len() / width;
    let mut panels = vec![0.0; m.div_ceil(PANEL) * width * PANEL];
    panels.par_chunks_mut(width * PANEL).enumerate().for_each(|(index, panel)| {
        for lane in 0..PANEL {
            let column = (index * PANEL + lane).min(m - 1);
            for (f, &value) in y[column * width..][..width].iter().enumerate() {
                panel[f * PANEL + lane] = value;
            }
        }
    });
    panels
}

/// Feature ranges cut into strips of [`STRIP`], each stored as `[row][STRIP]` and padded with zeros.
///
/// A strip then streams through the cache: read in place, rows a power of two apart would evict each other.
pub(super) struct Strips {
    values: Vec<f32>,
    padded_rows: usize,
}

impl Strips {
    /// Strips of the features `spans` (start, length) of `rows`, in order.
    pub(super) fn pack(rows: &[f32], width: usize, spans: &[(usize, usize)]) -> Self {
        let padded_rows = (rows.len() / width).next_multiple_of(PANEL);
        let mut values = vec![0.0; spans.len() * padded_rows * STRIP];
        values.par_chunks_mut(padded_rows * STRIP).zip(spans).for_each(|(strip, &(start, length))| {
            for (to, from) in strip.chunks_exact_mut(STRIP).zip(rows.chunks_exact(width)) {
                to[..length].copy_from_slice(&from[start..start + length]);
            }
        });
        Self { values, padded_rows }
    }

    /// All rows of one strip.
    pub(super) fn strip(&self, index: usize) -> &[f32] {
        &self.values[index * self.padded_rows * STRIP..][..self.padded_rows * STRIP]
    }
}
