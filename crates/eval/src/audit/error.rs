//! What can be wrong with a matrix of distances.

use thiserror::Error;

/// Why a matrix of distances cannot be audited.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// It does not have an entry for every pair of states.
    #[error(
        "{entries} entries for {states} states; hint: a distance matrix has a row and a column for each state"
    )]
    Size {
        /// States that it is said to be over.
        states: usize,
        /// Entries that it has.
        entries: usize,
    },
    /// A state is none of the dataset.
    #[error(
        "row {row} is state {state}, but the dataset has {n_states} states; hint: states are counted from 0, all episodes one after another"
    )]
    State {
        /// The row of the matrix.
        row: usize,
        /// The number of the state.
        state: u64,
        /// States of the dataset.
        n_states: u64,
    },
    /// Two rows are the same state.
    #[error("state {state} has two rows; hint: give each state once")]
    Twice {
        /// The number of the state.
        state: u64,
    },
    /// An entry is not a distance.
    #[error(
        "row {row}, column {column} is {value}; hint: steps are 0 or more, and infinite where there is no path"
    )]
    Entry {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// What it is.
        value: f64,
    },
    /// No two states were recorded one after another.
    #[error(
        "no two of its states are of one episode within 150 steps of each other; hint: give every so many rows of whole episodes"
    )]
    NoRecordedPair,
}
