//! A finite Markov decision process in compressed sparse rows.

/// A finite Markov decision process: for each state one row per available action, each a sparse
/// distribution over successor states.
///
/// The rows of a state are contiguous, so a Bellman backup reads memory in order. States may
/// offer different numbers of actions; a Markov chain has one action per state, and a graph has
/// one successor per row. Values are always valid: build them with
/// [`MdpBuilder`](super::MdpBuilder) or [`RowWriter`](super::RowWriter).
///
/// Memory: 12 bytes per transition, 8 per row, 4 per state.
#[derive(Debug, Clone, PartialEq)]
pub struct TabularMdp {
    /// `state_rows[s]..state_rows[s + 1]` are the rows of state `s`; length `n_states + 1`.
    pub(super) state_rows: Vec<u32>,
    /// The action of each row.
    pub(super) row_action: Vec<u32>,
    /// `row_ptr[r]..row_ptr[r + 1]` are the transitions of row `r`.
    pub(super) row_ptr: Vec<u32>,
    pub(super) successors: Vec<u32>,
    pub(super) probabilities: Vec<f64>,
}

/// The structure of a process, which determines the methods that apply to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// Every action has exactly one successor.
    Deterministic,
    /// Every state has exactly one action.
    Chain,
    /// Some states have several actions, and some outcomes are random.
    Control,
}

/// The outcomes of one action in one state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// The number of the action.
    pub action: usize,
    /// The successor states, ascending and without duplicates.
    pub successors: &'a [u32],
    /// The probabilities of the successors: positive, with sum one.
    pub probabilities: &'a [f64],
}

impl Row<'_> {
    /// Iterates over `(successor, probability)` pairs.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        self.successors.iter().map(|&state| state as usize).zip(self.probabilities.iter().copied())
    }
}

impl TabularMdp {
    /// Returns the number of states.
    pub fn n_states(&self) -> usize {
        self.state_rows.len() - 1
    }

    /// Returns the number of (state, action) rows.
    pub fn n_rows(&self) -> usize {
        self.row_action.len()
    }

    /// Returns the number of stored transitions.
    pub fn n_transitions(&self) -> usize {
        self.successors.len()
    }

    /// Returns the structure of the process.
    pub fn structure(&self) -> Structure {
        match (self.n_transitions() == self.n_rows(), self.is_chain()) {
            (true, _) => Structure::Deterministic,
            (false, true) => Structure::Chain,
            (false, false) => Structure::Control,
        }
    }

    /// Whether every state has exactly one action.
    pub fn is_chain(&self) -> bool {
        self.n_rows() == self.n_states()
    }

    /// Iterates over the rows (actions) of one state.
    pub fn rows(&self, state: usize) -> impl Iterator<Item = Row<'_>> {
        self.row_range(state).map(|row| self.row(row))
    }

    /// Returns the row of `action` in `state`, if the action is available there.
    pub fn action_row(&self, state: usize, action: usize) -> Option<Row<'_>> {
        self.rows(state).find(|row| row.action == action)
    }

    pub(super) fn row_range(&self, state: usize) -> std::ops::Range<usize> {
        self.state_rows[state] as usize..self.state_rows[state + 1] as usize
    }

    pub(super) fn row(&self, row: usize) -> Row<'_> {
        let entries = self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize;
        Row {
            action: self.row_action[row] as usize,
            successors: &self.successors[entries.clone()],
            probabilities: &self.probabilities[entries],
        }
    }
}
