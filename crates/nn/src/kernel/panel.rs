//! Copies of the latent rows in the memory order of the kernels.

use super::threads::min_tasks;
use rayon::prelude::*;

/// The number of columns (rows of `y`) that are processed together, one per vector lane.
pub(super) const PANEL: usize = 32;
/// The number of rows of `x` per task.
pub(super) const GROUP: usize = 16;
/// The number of rows whose accumulators are in registers at the same time.
pub(super) const QUAD: usize = 4;
/// The number of features that are processed together in the backward pass.
pub(super) const STRIP: usize = 32;

/// Transposes `y` in panels: feature `f` of column `panel * PANEL + lane` is at
/// `(panel * width + f) * PANEL + lane`.
///
/// The last panel is padded with copies of the last column, whose results are discarded.
pub(super) fn transpose_in_panels(y: &[f32], width: usize) -> Vec<f32> {
    let m = y.len() / width;
    let mut panels = vec![0.0; m.div_ceil(PANEL) * width * PANEL];
    let min_tasks = min_tasks(y.len());
    panels.par_chunks_mut(width * PANEL).with_min_len(min_tasks).enumerate().for_each(|(index, panel)| {
        for lane in 0..PANEL {
            let column = (index * PANEL + lane).min(m - 1);
            for (f, &value) in y[column * width..][..width].iter().enumerate() {
                panel[f * PANEL + lane] = value;
            }
        }
    });
    panels
}

/// Feature ranges in strips of [`STRIP`], each stored as `[row][STRIP]` and padded with zeros.
///
/// A strip is contiguous in memory. Read in place, rows with a power-of-two stride would evict each
/// other from the cache.
pub(super) struct Strips {
    values: Vec<f32>,
    padded_rows: usize,
}

impl Strips {
    /// Copies the features `spans` (start, length) of `rows` to strips, in order.
    pub(super) fn pack(rows: &[f32], width: usize, spans: &[(usize, usize)]) -> Self {
        let padded_rows = (rows.len() / width).next_multiple_of(PANEL);
        let mut values = vec![0.0; spans.len() * padded_rows * STRIP];
        let strips = values.par_chunks_mut(padded_rows * STRIP).with_min_len(min_tasks(rows.len()));
        strips.zip(spans).for_each(|(strip, &(start, length))| {
            for (to, from) in strip.chunks_exact_mut(STRIP).zip(rows.chunks_exact(width)) {
                to[..length].copy_from_slice(&from[start..start + length]);
            }
        });
        Self { values, padded_rows }
    }

    /// Returns all rows of one strip.
    pub(super) fn strip(&self, index: usize) -> &[f32] {
        &self.values[index * self.padded_rows * STRIP..][..self.padded_rows * STRIP]
    }
}
