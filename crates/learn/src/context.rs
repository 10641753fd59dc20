//! What a learner must know before it can be built.

use burn::tensor::Device;
use isochrone_core::Discount;
use isochrone_data::Spec;
use isochrone_nn::module::Initializer;
use std::ops::Range;

/// The problem that a learner is built for.
#[derive(Debug, Clone)]
pub struct LearnerContext {
    /// Width of an observation.
    pub observation_width: usize,
    /// Width of an action; 0 where the dataset has states only, and then there is no policy to learn.
    pub action_width: usize,
    /// The dimensions of an observation that a policy is given as its goal.
    pub goal: Range<usize>,
    /// Discount per step.
    pub discount: Discount,
    /// Seed of everything random.
    pub seed: u64,
    /// Updates of the whole run: learning-rate schedules depend on it.
    pub steps: u64,
    /// Where tensors live; an autodiff device to train on.
    pub device: Device,
}

impl LearnerContext {
    /// The context of a run on a dataset with these columns.
    pub fn new(spec: &Spec, discount: Discount, seed: u64, steps: u64, device: &Device) -> Self {
        Self {
            observation_width: spec.observation.width,
            action_width: spec.action.width,
            goal: spec.goal_space(),
            discount,
            seed,
            steps,
            device: device.clone(),
        }
    }

    /// Whether the dataset has actions.
    pub fn has_actions(&self) -> bool {
        self.action_width > 0
    }

    /// Draws the parameters of network number `stream`; each network of a learner has a number of its own.
    pub fn initializer(&self, stream: u32) -> Initializer {
        Initializer::new(self.seed, stream, &self.device)
    }
}
