//! Errors of distance matrices.

use thiserror::Error;

/// Why a distance matrix cannot be audited.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The matrix does not have one entry for every pair of states.
    #[error(
        "{entries} entries for {states} states; hint: a distance matrix has a row and a column for each state"
    )]
    Size {
        /// The number of states given for its rows.
        states: usize,
        /// The number of entries.
        entries: usize,
    },
    /// A state index is out of range.
    #[error(
        "row {row} is state {state}, but the dataset has {n_states} states; hint: states are counted from 0 over all episodes"
    )]
    State {
        /// The row of the matrix.
        row: usize,
        /// The index of the state.
        state: u64,
        /// The number of states in the dataset.
        n_states: u64,
    },
    /// Two rows have the same state.
    #[error("state {state} has two rows; hint: list each state once")]
    Twice {
        /// The index of the state.
        state: u64,
    },
    /// An entry is not a distance.
    #[error(
        "row {row}, column {column} is {value}; hint: steps are 0 or more, and infinite where there is no path"
    )]
    Entry {
        /// The row of the entry.
        row: usize,
        /// The column of the entry.
        column: usize,
        /// The value of the entry.
        value: f64,
    },
    /// No two states were recorded within 150 steps of each other.
    #[error(
        "no two states of the matrix are of one episode and within 150 steps of each other; hint: use every Nth state of complete episodes"
    )]
    NoRecordedPair,
}
