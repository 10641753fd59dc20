//! The recorded states that are searched.

use isochrone_data::Dataset;
use std::ops::Range;

/// Recorded states by row number.
pub trait States: Sync {
    /// Returns the number of states.
    fn n_states(&self) -> usize;

    /// Returns the states of some rows, `[rows, width]`.
    fn states(&self, rows: Range<usize>) -> Vec<f32>;

    /// Returns the state of a row.
    fn state(&self, row: usize) -> Vec<f32> {
        self.states(row..row + 1)
    }
}

/// The states of all episodes of a dataset, in order.
impl States for Dataset {
    fn n_states(&self) -> usize {
        self.index().n_states() as usize
    }

    fn states(&self, rows: Range<usize>) -> Vec<f32> {
        let mut states = Vec::with_capacity(rows.len() * self.spec().observation.width);
        rows.for_each(|row| states.extend_from_slice(Dataset::state(self, row as u64)));
        states
    }
}

/// States in memory, row by row.
#[derive(Debug, Clone, Copy)]
pub struct SliceStates<'a> {
    /// `[n, width]`
    pub values: &'a [f32],
    /// The number of values in a state.
    pub width: usize,
}

impl States for SliceStates<'_> {
    fn n_states(&self) -> usize {
        self.values.len() / self.width
    }

    fn states(&self, rows: Range<usize>) -> Vec<f32> {
        self.values[rows.start * self.width..rows.end * self.width].to_vec()
    }
}
