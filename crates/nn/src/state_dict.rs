//! Everything that a resumed run needs, as named arrays and numbers.

use crate::{error::StateError, store::Archive};
use burn::module::Module;
use std::collections::BTreeMap;

/// The state of a learner at one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LearnerState {
    /// What is needed to use it: networks.
    pub weights: Archive,
    /// What is needed besides to resume: moments of optimizers, target networks.
    pub training: Archive,
    /// Multipliers and counters.
    pub numbers: BTreeMap<String, f64>,
}

/// What a [`StateDict`] does with what it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Copies everything from the learner.
    Save,
    /// Puts everything into a learner that goes on training.
    Resume,
    /// Puts networks into a learner that is only queried.
    Load,
}

/// A visitor of a learner's state: one traversal saves, resumes or loads, so that nothing can be forgotten on one side.
///
/// A learner shows it every network, target network and multiplier, each under a name of its own. Networks with an
/// optimizer are shown by [`TrainState::visit_state`](crate::optim::TrainState::visit_state).
#[derive(Debug)]
pub struct StateDict {
    state: LearnerState,
    mode: Mode,
}

impl StateDict {
    /// A visitor that starts from `state`; empty to save.
    pub fn new(mode: Mode, state: LearnerState) -> Self {
        Self { state, mode }
    }

    /// What is done with what it is shown.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// A network that is needed to use what was learned.
    ///
    /// # Errors
    /// If a parameter is missing, or has another shape.
    pub fn network<M: Module>(&mut self, name: &str, network: &mut M) -> Result<(), StateError> {
        match self.mode {
            Mode::Save => self.state.weights.insert_module(name, network),
            Mode::Resume | Mode::Load => self.state.weights.take_module(name, network)?,
        }
        Ok(())
    }

    /// A target network: needed to resume, but not to use what was learned.
    ///
    /// # Errors
    /// If a parameter is missing, or has another shape.
    pub fn target<M: Module>(&mut self, name: &str, network: &mut M) -> Result<(), StateError> {
        match self.mode {
            Mode::Save => self.state.training.insert_module(name, network),
            Mode::Resume => self.state.training.take_module(name, network)?,
            Mode::Load => {}
        }
        Ok(())
    }

    /// A number that is needed to resume: a multiplier or a counter.
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

    /// The arrays of networks, for what is saved with them but is no network.
    pub fn weights(&mut self) -> &mut Archive {
        &mut self.state.weights
    }

    /// What was saved, or what is left over.
    ///
    /// # Errors
    /// If a learner that resumes did not take everything.
    pub fn finish(self) -> Result<LearnerState, StateError> {
        let LearnerState { weights, training, numbers } = &self.state;
        let left = weights.remaining().or(training.remaining()).or(numbers.keys().next().map(String::as_str));
        match left.filter(|_| self.mode == Mode::Resume) {
            Some(name) => Err(StateError::Unused { name: name.to_owned() }),
            None => Ok(self.state),
        }
    }

    /// The arrays that are needed to resume.
    pub(crate) fn training(&mut self) -> &mut Archive {
        &mut self.state.training
    }
}
