//! Compressed sparse row (CSR) matrices from files, checked before use.

use super::TabularError;
use isochrone_core::exact::{RowWriter, TabularMdp};
use serde::Deserialize;
use std::path::Path;

/// The arrays of a CSR matrix as they are in a file; error messages about JSON call it a matrix.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Matrix")]
pub(super) struct Csr {
    pub indptr: Vec<i64>,
    pub indices: Vec<i64>,
    pub data: Vec<f64>,
}

impl Csr {
    /// Checks the lengths and the row pointers of a matrix of `n_rows` rows; `name` is the
    /// prefix of the error messages.
    pub fn check(&self, path: &Path, name: &str, n_rows: u64) -> Result<(), TabularError> {
        let fail = |problem: String, hint: &str| {
            Err(TabularError::malformed(path, format!("{name}{problem}"), hint))
        };
        if self.indptr.len() as u64 != n_rows.saturating_add(1) {
            let problem = format!("indptr has {} entries for {n_rows} rows", self.indptr.len());
            return fail(problem, "indptr has one entry more than there are rows");
        }
        if self.indices.len() != self.data.len() {
            let problem =
                format!("indices has {} entries, but data has {}", self.indices.len(), self.data.len());
            return fail(problem, "both have one entry per transition");
        }
        if self.indptr[0] != 0 || self.indptr[self.indptr.len() - 1] != self.data.len() as i64 {
            let (first, last) = (self.indptr[0], self.indptr[self.indptr.len() - 1]);
            let problem = format!("indptr goes from {first} to {last}, not from 0 to {}", self.data.len());
            return fail(problem, "indptr begins at 0 and ends at the number of transitions");
        }
        if let Some(row) = self.indptr.windows(2).position(|ends| ends[0] > ends[1]) {
            return fail(format!("indptr decreases after row {row}"), "row pointers never decrease");
        }
        Ok(())
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let entries = self.indptr[row] as usize..self.indptr[row + 1] as usize;
        // A negative successor becomes one far out of range, which the writer reports.
        let successors =
            self.indices[entries.clone()].iter().map(|&to| usize::try_from(to).unwrap_or(usize::MAX));
        successors.zip(self.data[entries].iter().copied())
    }
}

/// Builds an MDP from one checked row per `(action, state)`, given by `locate(action, state)`.
/// Empty rows are actions that are not available.
pub(super) fn mdp_from_rows<'a>(
    path: &Path,
    n_states: usize,
    n_actions: usize,
    locate: impl Fn(usize, usize) -> (&'a Csr, usize),
) -> Result<TabularMdp, TabularError> {
    let mut writer = RowWriter::new(n_states);
    for state in 0..n_states {
        for action in 0..n_actions {
            let (matrix, row) = locate(action, state);
            if matrix.indptr[row] < matrix.indptr[row + 1] {
                writer.row(state, action, matrix.row(row)).map_err(TabularError::mdp(path))?;
            }
        }
    }
    writer.finish().map_err(TabularError::mdp(path))
}
