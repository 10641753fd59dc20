//! Offline goal-conditioned learning of temporal distances: algorithms, and a resumable trainer.
//!
//! - [`Algorithm`], [`algos`]: the algorithms, one file each; [`components`] is what they share
//! - [`AlgorithmDef`], [`Learner`]: what an algorithm of another crate implements
//! - [`Training`]: from a dataset to a [`Model`], in memory or resumable; [`Callbacks`], [`StopHandle`] and [`evaluation`] go with it
//! - [`run`]: the folder of a run, its settings and checkpoints
//! - [`distill`]: a distance in steps, such as recorded time between landmarks, as a network in one file
//! - [`model`]: what was learned, to be queried for distances and actions

mod algorithm;
pub mod algos;
mod batch;
mod callbacks;
pub mod components;
mod context;
pub mod distill;
pub mod error;
pub mod evaluation;
pub mod jobs;
mod learner;
mod metrics;
pub mod model;
mod restore;
pub mod run;
mod scaling;
mod setting_info;
pub mod settings;
mod trainer;
mod training;

pub use algorithm::{Algorithm, AlgorithmDef, LearnerConfig};
pub use batch::{DeviceBatch, DeviceGoals};
pub use callbacks::{Callbacks, StopHandle};
pub use components::Preset;
pub use context::LearnerContext;
pub use isochrone_nn::state_dict::StateDict;
pub use learner::{Learner, TensorDistance};
pub use metrics::Metrics;
pub use model::{LearnedDistance, LearnedPolicy, Model};
pub use scaling::ScalingConfig;
pub use setting_info::SettingInfo;
pub use trainer::Outcome;
pub use training::{Training, TrainingResult};

/// What benchmarks of single updates and tests of checkpoints need. Not part of the public API.
#[doc(hidden)]
pub mod internals {
    pub use crate::{
        batch::{BatchTransform, sampler},
        restore::{restore, save},
        scaling::Scaling,
    };
}

/// The processor, ready to train.
pub fn cpu() -> burn::tensor::Device {
    burn::tensor::Device::flex().autodiff()
}
