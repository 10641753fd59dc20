//! The problem that a learner is built for.

use crate::processes::Processes;
use burn::{module::Module, tensor::Device};
use isochrone_core::Discount;
use isochrone_data::Spec;
use isochrone_nn::{
    error::ConfigError,
    module::{Initializer, MAX_PARAMETERS},
    optim::{OptimizerConfig, TrainState},
    store::Archive,
};
use std::ops::Range;

/// The problem that a learner is built for.
#[derive(Debug, Clone)]
pub struct LearnerContext {
    /// The width of an observation.
    pub observation_width: usize,
    /// The width of an action; 0 if the dataset has no actions, in which case no policy is learned.
    pub action_width: usize,
    /// The dimensions of an observation that are the policy's goal input.
    pub goal: Range<usize>,
    /// The discount per step.
    pub discount: Discount,
    /// The random seed.
    pub seed: u64,
    /// The total number of updates of the run, on which learning-rate schedules depend.
    pub steps: u64,
    /// The device of all tensors; an autodiff device for training.
    pub device: Device,
    /// The processes that train together.
    pub processes: Processes,
    /// The number of parameters that a network may have. It is checked before the network is
    /// built, since a corrupt file may request one that is larger than memory.
    pub max_parameters: usize,
}

impl LearnerContext {
    /// Creates the context of a run on a dataset with these columns.
    pub fn new(spec: &Spec, discount: Discount, seed: u64, steps: u64, device: &Device) -> Self {
        Self {
            observation_width: spec.observation.width,
            action_width: spec.action.width,
            goal: spec.goal_space(),
            discount,
            seed,
            steps,
            device: device.clone(),
            processes: Processes::default(),
            max_parameters: MAX_PARAMETERS,
        }
    }

    /// Whether the dataset has actions.
    pub fn has_actions(&self) -> bool {
        self.action_width > 0
    }

    /// Returns a network with its optimizer state, whose gradients are averaged over processes.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn train_state<M: Module>(
        &self,
        network: M,
        optimizer: OptimizerConfig,
    ) -> Result<TrainState<M>, ConfigError> {
        Ok(TrainState::new(network, optimizer, self.steps)?.among(self.processes.all().cloned()))
    }

    /// Returns the parameter initializer of network `stream`; each network of a learner has its own
    /// stream.
    pub fn initializer(&self, stream: u32) -> Initializer {
        Initializer::new(self.seed, stream, &self.device).limited_to(self.max_parameters)
    }

    /// Limits networks to a size that a checkpoint with these weights can have. Networks that are
    /// not stored with the weights are not much larger than those that are.
    #[must_use]
    pub(crate) fn limited_by(self, weights: &Archive) -> Self {
        let stored: usize = weights.iter().map(|(_, values)| values.len()).sum();
        Self { max_parameters: stored.saturating_mul(16).saturating_add(1 << 20), ..self }
    }
}
