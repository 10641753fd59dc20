//! Builders of [`TabularMdp`] that validate every row.

use super::mdp::TabularMdp;
use thiserror::Error;

/// Rows whose probabilities sum to one within this tolerance are normalized; others are rejected.
const ROW_SUM_TOLERANCE: f64 = 1e-6;

/// An error in the definition of a process.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MdpError {
    /// The process has no states.
    #[error("the process has no states; hint: give at least one state")]
    NoStates,
    /// There are more states, actions or transitions than 32-bit indices support.
    #[error("{what} = {count} exceeds {max}; hint: coarsen or split the problem", max = u32::MAX - 1)]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// The count.
        count: u64,
    },
    /// A row belongs to a state that does not exist.
    #[error("state {state} is out of range: there are {n_states} states; hint: states are numbered from 0")]
    StateOutOfRange {
        /// The state.
        state: usize,
        /// The number of states.
        n_states: usize,
    },
    /// A successor does not exist.
    #[error(
        "state {state}, action {action}: successor {successor} is out of range: there are {n_states} states; \
         hint: states are numbered from 0"
    )]
    SuccessorOutOfRange {
        /// The state of the row.
        state: usize,
        /// The action of the row.
        action: usize,
        /// The successor.
        successor: usize,
        /// The number of states.
        n_states: usize,
    },
    /// A probability is negative, above one, or NaN.
    #[error(
        "state {state}, action {action}: probability {probability} of successor {successor} is not in [0, 1]; \
         hint: probabilities are finite numbers between 0 and 1"
    )]
    BadProbability {
        /// The state of the row.
        state: usize,
        /// The action of the row.
        action: usize,
        /// The successor of the probability.
        successor: usize,
        /// The probability.
        probability: f64,
    },
    /// The probabilities of a row do not sum to one.
    #[error(
        "state {state}, action {action}: probabilities sum to {sum}, not 1; \
         hint: add the missing outcome or normalize the row"
    )]
    RowSum {
        /// The state of the row.
        state: usize,
        /// The action of the row.
        action: usize,
        /// The sum of its probabilities.
        sum: f64,
    },
    /// A state has no action.
    #[error(
        "state {state} has no action; hint: give an absorbing state a transition to itself with probability 1"
    )]
    NoAction {
        /// The state.
        state: usize,
    },
    /// A row was given twice, or rows are not in ascending order.
    #[error(
        "state {state}, action {action}: row given twice or out of order; hint: write each (state, action) once, in ascending order"
    )]
    RowOrder {
        /// The state of the row.
        state: usize,
        /// The action of the row.
        action: usize,
    },
}

/// Writes a process row by row in ascending `(state, action)` order, without an intermediate copy.
///
/// Use it for large problems; [`MdpBuilder`] accepts transitions in any order.
#[derive(Debug)]
pub struct RowWriter {
    n_states: usize,
    last: Option<(usize, usize)>,
    entries: Vec<(u32, f64)>,
    mdp: TabularMdp,
}

impl RowWriter {
    /// Creates a writer for a process of `n_states` states. Memory grows with the rows.
    pub fn new(n_states: usize) -> Self {
        let mdp = TabularMdp {
            state_rows: Vec::new(),
            row_action: Vec::new(),
            row_ptr: vec![0],
            successors: Vec::new(),
            probabilities: Vec::new(),
        };
        Self { n_states, last: None, entries: Vec::new(), mdp }
    }

    /// Adds the row of `action` in `state`. Probabilities of repeated successors are added, and
    /// zeros are dropped.
    pub fn row(
        &mut self,
        state: usize,
        action: usize,
        outcomes: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<(), MdpError> {
        let n_states = self.n_states;
        check_count("states", n_states)?;
        check_count("actions", action)?;
        if state >= n_states {
            return Err(MdpError::StateOutOfRange { state, n_states });
        }
        if self.last.is_some_and(|last| last >= (state, action)) {
            return Err(MdpError::RowOrder { state, action });
        }
        self.entries.clear();
        for (successor, probability) in outcomes {
            if successor >= n_states {
                return Err(MdpError::SuccessorOutOfRange { state, action, successor, n_states });
            }
            if !(0.0..=1.0 + ROW_SUM_TOLERANCE).contains(&probability) {
                return Err(MdpError::BadProbability { state, action, successor, probability });
            }
            if probability > 0.0 {
                self.entries.push((successor as u32, probability));
            }
        }
        self.entries.sort_unstable_by_key(|&(successor, _)| successor);
        self.entries.dedup_by(|from, into| {
            let same = from.0 == into.0;
            if same {
                into.1 += from.1;
            }
            same
        });
        let sum: f64 = self.entries.iter().map(|&(_, probability)| probability).sum();
        if (sum - 1.0).abs() > ROW_SUM_TOLERANCE {
            return Err(MdpError::RowSum { state, action, sum });
        }
        self.last = Some((state, action));
        self.close_states_before(state)?;
        self.mdp.row_action.push(action as u32);
        self.mdp.successors.extend(self.entries.iter().map(|&(successor, _)| successor));
        self.mdp.probabilities.extend(self.entries.iter().map(|&(_, probability)| probability / sum));
        check_count("transitions", self.mdp.successors.len())?;
        self.mdp.row_ptr.push(self.mdp.successors.len() as u32);
        Ok(())
    }

    /// Checks that every state has an action and returns the process.
    pub fn finish(mut self) -> Result<TabularMdp, MdpError> {
        if self.n_states == 0 {
            return Err(MdpError::NoStates);
        }
        self.close_states_before(self.n_states)?;
        self.mdp.state_rows.push(self.mdp.row_action.len() as u32);
        Ok(self.mdp)
    }

    /// Stores where the rows of `state` start. Fails if an earlier state has no rows.
    fn close_states_before(&mut self, state: usize) -> Result<(), MdpError> {
        let started = self.mdp.state_rows.len();
        // A skipped state has no action. It is reported before the table grows, so that a huge
        // declared number of states costs no memory.
        if started < state {
            return Err(MdpError::NoAction { state: started });
        }
        if started == state && state < self.n_states {
            self.mdp.state_rows.push(self.mdp.row_action.len() as u32);
        }
        Ok(())
    }
}

/// Builds a process from transitions in any order.
///
/// ```
/// use isochrone_core::{Discount, exact::{ExactSolver, MdpBuilder}};
///
/// const CAR: usize = 0;
/// const BIKE: usize = 1;
/// let mut builder = MdpBuilder::new(2); // home, work
/// builder.transition(0, CAR, 1, 0.2).transition(0, CAR, 0, 0.8); // mostly stuck in traffic
/// builder.transition(0, BIKE, 1, 0.5).transition(0, BIKE, 0, 0.5);
/// builder.transition(1, CAR, 1, 1.0);
/// let process = builder.build()?;
/// let to_work = ExactSolver::new(&process, Discount::new(0.99)?).to_goal(1)?;
/// assert_eq!(to_work.action(0), Some(BIKE));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MdpBuilder {
    n_states: usize,
    transitions: Vec<(usize, usize, usize, f64)>,
}

impl MdpBuilder {
    /// Creates a builder for a process of `n_states` states.
    pub fn new(n_states: usize) -> Self {
        Self { n_states, transitions: Vec::new() }
    }

    /// Adds one outcome of taking `action` in `state`. Probabilities of repeated outcomes are
    /// added.
    pub fn transition(&mut self, state: usize, action: usize, to: usize, probability: f64) -> &mut Self {
        self.transitions.push((state, action, to, probability));
        self
    }

    /// Validates and returns the process.
    pub fn build(mut self) -> Result<TabularMdp, MdpError> {
        // The sort is stable: outcomes of a row are added in the given order.
        self.transitions.sort_by_key(|&(state, action, ..)| (state, action));
        let mut writer = RowWriter::new(self.n_states);
        for row in self.transitions.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let outcomes = row.iter().map(|&(_, _, successor, probability)| (successor, probability));
            writer.row(row[0].0, row[0].1, outcomes)?;
        }
        writer.finish()
    }
}

impl TabularMdp {
    /// Returns the Markov chain of following `policy`, where `policy(s)` is the action in state
    /// `s`.
    ///
    /// # Errors
    /// The first state whose action is not available.
    pub fn under_policy(&self, policy: impl Fn(usize) -> usize) -> Result<Self, usize> {
        let mut writer = RowWriter::new(self.n_states());
        for state in 0..self.n_states() {
            let row = self.action_row(state, policy(state)).ok_or(state)?;
            writer.row(state, 0, row.iter()).expect("a valid row stays valid");
        }
        Ok(writer.finish().expect("every state has a row"))
    }

    /// Builds a Markov chain from `(state, successor, probability)` edges in any order.
    pub fn chain_from_edges(
        n_states: usize,
        edges: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, MdpError> {
        let transitions = edges.into_iter().map(|(state, successor, p)| (state, 0, successor, p)).collect();
        MdpBuilder { n_states, transitions }.build()
    }
}

fn check_count(what: &'static str, count: usize) -> Result<(), MdpError> {
    if count < u32::MAX as usize { Ok(()) } else { Err(MdpError::TooLarge { what, count: count as u64 }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Structure;

    #[test]
    fn transitions_in_any_order_are_merged_and_normalized() {
        let mut builder = MdpBuilder::new(2);
        builder.transition(1, 0, 1, 1.0).transition(0, 1, 1, 0.25).transition(0, 0, 0, 1.0);
        builder.transition(0, 1, 0, 0.5).transition(0, 1, 1, 0.25);
        let mdp = builder.build().unwrap();
        assert_eq!(mdp.structure(), Structure::Control);
        let row = mdp.action_row(0, 1).unwrap();
        assert_eq!((row.successors, row.probabilities), (&[0u32, 1][..], &[0.5, 0.5][..]));
        assert!(mdp.action_row(1, 1).is_none());
    }

    #[test]
    fn errors_name_the_row() {
        let build = |edges: &[(usize, usize, usize, f64)], n| {
            MdpBuilder { n_states: n, transitions: edges.to_vec() }.build().unwrap_err()
        };
        assert_eq!(build(&[(0, 2, 0, 0.5)], 1), MdpError::RowSum { state: 0, action: 2, sum: 0.5 });
        assert_eq!(build(&[(0, 0, 0, 1.0)], 2), MdpError::NoAction { state: 1 });
        assert_eq!(build(&[], usize::MAX), MdpError::NoAction { state: 0 });
        assert_eq!(build(&[], 0), MdpError::NoStates);
        assert!(matches!(build(&[(0, 0, 0, f64::NAN)], 1), MdpError::BadProbability { state: 0, .. }));
        assert!(matches!(build(&[(0, 0, 0, -0.1)], 1), MdpError::BadProbability { .. }));
        assert!(matches!(build(&[(0, 0, 0, f64::INFINITY)], 1), MdpError::BadProbability { .. }));
        assert!(matches!(build(&[(0, 0, 9, 1.0)], 1), MdpError::SuccessorOutOfRange { successor: 9, .. }));
        assert!(matches!(build(&[(7, 0, 0, 1.0)], 1), MdpError::StateOutOfRange { state: 7, .. }));
        assert!(matches!(build(&[(0, 0, 0, 1.0)], 1 << 40), MdpError::TooLarge { what: "states", .. }));
    }

    #[test]
    fn rows_out_of_order_are_rejected() {
        let mut writer = RowWriter::new(2);
        writer.row(0, 1, [(0, 1.0)]).unwrap();
        assert_eq!(writer.row(0, 0, [(0, 1.0)]), Err(MdpError::RowOrder { state: 0, action: 0 }));
    }
}
