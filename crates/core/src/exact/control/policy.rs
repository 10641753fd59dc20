//! The linear system of one policy.

use super::system::System;

/// The system `u_i = sum_j w_ij u_j` over the rows chosen by the current policy, for positions from
/// `n_goals` on.
pub(in super::super) struct PolicySystem {
    pub(super) n_goals: usize,
    entry_ptr: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl PolicySystem {
    /// Copies the chosen rows into contiguous memory.
    pub(super) fn new(system: &System<'_>) -> Self {
        let mut policy = Self::without_rows(system.n_goals);
        for (columns, weights) in system.chosen_entries() {
            policy.push_row(columns.iter().copied().zip(weights.iter().copied()));
        }
        policy
    }

    pub(in super::super) fn without_rows(n_goals: usize) -> Self {
        Self { n_goals, entry_ptr: vec![0], columns: Vec::new(), weights: Vec::new() }
    }

    /// Adds the `(column, weight)` entries of the next position. Entries without weight are dropped
    /// by overwriting them, because whether an entry has weight is hard to predict.
    pub(in super::super) fn push_row(&mut self, entries: impl ExactSizeIterator<Item = (u32, f64)>) {
        let mut end = self.columns.len();
        self.columns.resize(end + entries.len(), 0);
        self.weights.resize(end + entries.len(), 0.0);
        for (column, weight) in entries {
            (self.columns[end], self.weights[end]) = (column, weight);
            end += usize::from(weight != 0.0);
        }
        self.columns.truncate(end);
        self.weights.truncate(end);
        self.entry_ptr.push(end as u32);
    }

    /// Returns `sum_j w_ij x_j` of a position.
    #[inline]
    pub(super) fn product(&self, position: usize, x: &[f64]) -> f64 {
        let row = position - self.n_goals;
        let entries = self.entry_ptr[row] as usize..self.entry_ptr[row + 1] as usize;
        let pairs = self.columns[entries.clone()].iter().zip(&self.weights[entries]);
        pairs.map(|(&column, weight)| weight * x[column as usize]).sum()
    }

    /// Iterates over `(position, columns, weights)` of the non-goal positions, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &[u32], &[f64])> {
        (self.n_goals..).zip(self.entry_ptr.windows(2)).map(|(position, ends)| {
            let entries = ends[0] as usize..ends[1] as usize;
            (position, &self.columns[entries.clone()], &self.weights[entries])
        })
    }
}
