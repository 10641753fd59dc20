//! The linear system of one policy.

use super::system::System;

/// The system `u_i = sum_j w_ij u_j` over the rows chosen by the current policy, for positions from
/// `n_goals` on.
pub(super) struct PolicySystem {
    pub(super) n_goals: usize,
    entry_ptr: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl PolicySystem {
    /// Copies the chosen rows into contiguous memory.
    pub(super) fn new(system: &System<'_>) -> Self {
        let mut policy =
            Self { n_goals: system.n_goals, entry_ptr: vec![0], columns: Vec::new(), weights: Vec::new() };
        for (columns, weights) in system.chosen_entries() {
            policy.columns.extend_from_slice(columns);
            policy.weights.extend_from_slice(weights);
            policy.entry_ptr.push(policy.columns.len() as u32);
        }
        policy
    }

    /// Iterates over `(position, columns, weights)` of the non-goal positions, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &[u32], &[f64])> {
        (self.n_goals..).zip(self.entry_ptr.windows(2)).map(|(position, ends)| {
            let entries = ends[0] as usize..ends[1] as usize;
            (position, &self.columns[entries.clone()], &self.weights[entries])
        })
    }
}
