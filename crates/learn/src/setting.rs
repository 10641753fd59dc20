//! What a learner must know before it can be built.

use burn::tensor::Device;
use isochrone_core::Discount;
use isochrone_data::Spec;
use isochrone_nn::module::Initialiser;
use std::ops::Range;

/// The problem that a learner is built for.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Numbers of an observation.
    pub observation_width: usize,
    /// Numbers of an action; 0 where a log has states only, and then there is no policy to learn.
    pub action_width: usize,
    /// The dimensions of an observation that a policy is told of its goal.
    pub goal: Range<usize>,
    /// How far ahead one looks.
    pub discount: Discount,
    /// Of everything random.
    pub seed: u64,
    /// Updates of the whole run: schedules are functions of it.
    pub steps: u64,
    /// Where tensors live; an autodiff device to train on.
    pub device: Device,
}

impl Setting {
    /// For data of this kind.
    pub fn of(spec: &Spec, discount: Discount, seed: u64, steps: u64, device: &Device) -> Self {
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

    /// Whether the data have actions.
    pub fn has_actions(&self) -> bool {
        self.action_width > 0
    }

    /// Draws the parameters of network number `stream`; each network of a learner has a number of its own.
    pub fn initialiser(&self, stream: u32) -> Initialiser {
        Initialiser::new(self.seed, stream, &self.device)
    }
}
