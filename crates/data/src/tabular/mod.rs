//! Readers of tabular MDPs and Markov chains: text maps, MDP files and event logs.
//!
//! Every error names the file and the problem, and ends with a hint. No reader allocates more than
//! a small multiple of what the file contains, whatever sizes it declares.

mod csr;
mod error;
mod event_log;
mod mdp_json;
mod mdp_npz;

pub use error::TabularError;
pub use event_log::{EventLog, LogColumns, read_event_log};
pub use mdp_json::read_mdp_json;
pub use mdp_npz::read_mdp_npz;

use crate::regular_file;
use isochrone_core::exact::{GridWorld, TabularMdp};
use std::path::Path;

/// The maximum size of a file, which is read into memory.
const MAX_FILE_BYTES: u64 = 8 << 30;

/// An MDP with the names of its states and actions, if the file has any.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedMdp {
    /// The MDP.
    pub mdp: TabularMdp,
    /// The names of the states; empty if they have none.
    pub states: Vec<String>,
    /// The names of the actions; empty if they have none.
    pub actions: Vec<String>,
}

impl NamedMdp {
    /// Returns the name of a state, or its number.
    pub fn state_name(&self, state: usize) -> String {
        self.states.get(state).cloned().unwrap_or_else(|| state.to_string())
    }

    /// Returns the name of an action, or its number.
    pub fn action_name(&self, action: usize) -> String {
        self.actions.get(action).cloned().unwrap_or_else(|| action.to_string())
    }

    /// Returns the state with this name or, if there is none, this number.
    pub fn find_state(&self, name: &str) -> Option<usize> {
        let by_number = || name.parse().ok().filter(|&state| state < self.mdp.n_states());
        self.states.iter().position(|state| state == name).or_else(by_number)
    }
}

/// Reads a gridworld from a text map.
pub fn read_map(path: &Path) -> Result<GridWorld, TabularError> {
    let bytes = read(path)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let hint = "a map is plain text: # . ^ > v < 0-9 S G";
        TabularError::malformed(path, format!("byte {at} is not UTF-8 text"), hint)
    })?;
    GridWorld::parse(&text).map_err(|source| TabularError::Map { path: path.into(), source })
}

fn read(path: &Path) -> Result<Vec<u8>, TabularError> {
    let read = regular_file::read_at_most(path, MAX_FILE_BYTES);
    read.map_err(|source| TabularError::Read { path: path.into(), source })
}
