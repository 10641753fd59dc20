//! The state of a learner as named tensors and numbers.

use crate::{error::StateError, store::Archive};
use burn::module::Module;
use std::collections::BTreeMap;

/// The state of a learner at one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LearnerState {
    /// The networks that are needed for inference.
    pub weights: Archive,
    /// The additional tensors that are needed to resume training: optimizer moments and target
    /// networks.
    pub training: Archive,
    /// Multipliers and counters.
    pub numbers: BTreeMap<String, f64>,
}

/// The operation of a [`StateDict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Copies the state of the learner.
    Save,
    /// Restores the full state of a learner that continues training.
    Resume,
    /// Restores the networks of a learner that is used for inference only.
    Load,
}

/// A visitor of the state of a learner. The same traversal saves, resumes and loads, so that the
/// three cannot differ.
///
/// A learner passes every network, target network and multiplier, each with a unique name. Networks
/// with an optimizer are passed by
/// [`TrainState::visit_state`](crate::optim::TrainState::visit_state).
#[derive(Debug)]
pub struct StateDict {
    state: LearnerState,
    mode: Mode,
}

impl StateDict {
    /// Creates a visitor that starts from `state`, which is empty for [`Mode::Save`].
    pub fn new(mode: Mode, state: LearnerState) -> Self {
        Self { state, mode }
    }

    /// Returns the operation.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Visits a network that is needed for inference.
    ///
    /// # Errors
    /// If a parameter is missing or has a different shape.
    pub fn network<M: Module>(&mut self, name: &str, network: &mut M) -> Result<(), StateError> {
        match self.mode {
            Mode::Save => self.state.weights.insert_module(name, network),
            Mode::Resume | Mode::Load => self.state.weights.take_module(name, network)?,
        }
        Ok(())
    }

    /// Visits a target network, which is needed to resume training but not for inference.
    ///
    /// # Errors
    /// If a parameter is missing or has a different shape.
    pub fn target<M: Module>(&mut self, name: &str, network: &mut M) -> Result<(), StateError> {
        match self.mode {
            Mode::Save => self.state.training.insert_module(name, network),
            Mode::Resume => self.state.training.take_module(name, network)?,
            Mode::Load => {}
        }
        Ok(())
    }

    /// Visits a number that is needed to resume training: a multiplier or a counter.
    ///
    /// # Errors
    /// If it is missing.
    pub fn number(&mut self, name: &str, value: &mut f64) -> Result<(), StateError> {
        match self.mode {
            Mode::Save => {
                self.state.numbers.insert(name.to_owned(), *value);
            }
            Mode::Resume => {
                let number = self.state.numbers.remove(name);
                *value = number.ok_or_else(|| StateError::MissingNumber { name: name.to_owned() })?;
            }
            Mode::Load => {}
        }
        Ok(())
    }

    /// Returns the network tensors, for data that is saved with the networks.
    pub fn weights(&mut self) -> &mut Archive {
        &mut self.state.weights
    }

    /// Returns the saved state, or the remaining entries of a loaded one.
    ///
    /// # Errors
    /// If entries remain in [`Mode::Resume`].
    pub fn finish(self) -> Result<LearnerState, StateError> {
        let LearnerState { weights, training, numbers } = &self.state;
        let left = weights.remaining().or(training.remaining()).or(numbers.keys().next().map(String::as_str));
        match left.filter(|_| self.mode == Mode::Resume) {
            Some(name) => Err(StateError::Unused { name: name.to_owned() }),
            None => Ok(self.state),
        }
    }

    /// Returns the tensors that are needed only to resume training.
    pub(crate) fn training(&mut self) -> &mut Archive {
        &mut self.state.training
    }
}
