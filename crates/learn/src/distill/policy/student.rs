//! A distilled policy, which acts without its teacher.

use crate::{
    batch::BatchTransform, context::LearnerContext, model::LearnedPolicy, processes::Processes,
    scaling::Scaling,
};
use burn::tensor::Device;
use isochrone_core::{Discount, GoalPolicy};
use isochrone_nn::{
    error::{ConfigError, StateError},
    kernel::Activation,
    module::{Actor, ActorConfig, Initializer, Normalization, PolicyDistribution, TrunkConfig},
    store::Archive,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The number of hidden layers.
const DEPTH: usize = 3;
/// The number of Gaussians of a network of waypoints. Where two paths are about equally fast, the
/// planner takes one or the other, and the mean of both leads nowhere.
const COMPONENTS: usize = 8;

/// The description of a distilled policy in its file, besides its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub observation_width: usize,
    pub action_width: usize,
    /// The columns of an observation that are the goal input.
    pub goal: Range<usize>,
    /// The width of the hidden layers.
    pub width: usize,
    pub updates: u64,
    pub seed: u64,
    /// The teacher, in words.
    pub teacher: String,
    /// SHA-256 of the dataset.
    pub data_sha256: String,
    /// The root mean square difference from the actions of the teacher, for goals that were held
    /// out, as a share of that of the best constant action.
    pub relative_error: f64,
    /// What the network predicts; files from before waypoints have no such field.
    #[serde(default)]
    pub outputs: Outputs,
}

/// What the network of a distilled policy predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outputs {
    /// Actions.
    #[default]
    Actions,
    /// Displacements to waypoints, in the dimensions of a goal.
    Displacements,
}

impl About {
    /// Returns the context of the network on a device.
    pub fn context(&self, device: &Device) -> LearnerContext {
        LearnerContext {
            observation_width: self.observation_width,
            action_width: self.action_width,
            goal: self.goal.clone(),
            // A policy has no discount.
            discount: Discount::new(0.99).expect("it is between 0 and 1"),
            seed: self.seed,
            steps: self.updates,
            device: device.clone(),
            processes: Processes::default(),
            max_parameters: isochrone_nn::module::MAX_PARAMETERS,
        }
    }

    /// Builds the network with initial weights.
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn actor(&self, init: &mut Initializer) -> Result<Actor, ConfigError> {
        let trunk = TrunkConfig {
            width: self.width,
            depth: DEPTH,
            activation: Activation::Gelu,
            normalization: Normalization::LayerNorm,
        };
        let inputs = self.observation_width + self.goal.len();
        let distribution = match self.outputs {
            Outputs::Actions => PolicyDistribution::FixedStd { std: 1.0 },
            Outputs::Displacements => {
                PolicyDistribution::Mixture { components: COMPONENTS, min_log_std: -4.0, max_log_std: 1.0 }
            }
        };
        ActorConfig { inputs, actions: self.action_width, trunk, distribution }.init(init)
    }
}

/// A policy that imitates a planner and its low-level policy without planning. Clones share the
/// network.
#[derive(Clone)]
pub struct DistilledPolicy {
    about: About,
    policy: LearnedPolicy,
}

impl DistilledPolicy {
    /// The name of its file in the folder of a run.
    pub const FILE_NAME: &'static str = "distilled-policy.safetensors";

    /// Creates a policy from its parts.
    pub(super) fn new(about: About, actor: Actor, scaling: Scaling, device: &Device) -> Self {
        let transform = BatchTransform::new(&about.context(device), scaling);
        Self { about, policy: LearnedPolicy::new(actor, transform) }
    }

    /// The teacher, in words.
    pub fn teacher(&self) -> &str {
        &self.about.teacher
    }

    /// SHA-256 of the dataset that it was distilled on.
    pub fn data_sha256(&self) -> &str {
        &self.about.data_sha256
    }

    /// The root mean square difference from the actions of the teacher for goals that were held
    /// out, as a share of that of the best constant action: 0 is equal, 1 is nothing learned. A
    /// network of waypoints has displacements for actions.
    pub fn relative_error(&self) -> f64 {
        self.about.relative_error
    }

    /// Whether its outputs are displacements to waypoints instead of actions.
    pub fn has_displacements(&self) -> bool {
        self.about.outputs == Outputs::Displacements
    }

    /// The columns of an observation that define a goal, in which displacements are.
    pub fn goal(&self) -> Range<usize> {
        self.about.goal.clone()
    }

    /// The policy as that of a model, for export.
    pub fn as_learned(&self) -> &LearnedPolicy {
        &self.policy
    }

    pub(super) fn about(&self) -> &About {
        &self.about
    }

    pub(super) fn set_relative_error(&mut self, relative_error: f64) {
        self.about.relative_error = relative_error;
    }

    pub(super) fn to_archive(&self) -> Archive {
        let mut archive = Archive::default();
        archive.insert_module("actor", self.policy.actor());
        self.policy.scaling().insert_into(&mut archive);
        archive
    }

    /// Builds a policy from an archive that contains exactly its weights. The size of the network
    /// must have been checked.
    pub(super) fn from_archive(
        about: About,
        mut archive: Archive,
        device: &Device,
    ) -> Result<Self, StateError> {
        let mut actor = about.actor(&mut Initializer::new(0, 0, device))?;
        archive.take_module("actor", &mut actor)?;
        let scaling = Scaling::take_from(&mut archive, [about.observation_width, about.action_width])?;
        archive.finish()?;
        Ok(Self::new(about, actor, scaling, device))
    }
}

impl GoalPolicy for DistilledPolicy {
    fn observation_width(&self) -> usize {
        self.policy.observation_width()
    }

    fn action_width(&self) -> usize {
        self.policy.action_width()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.policy.actions(observations, goals)
    }
}
