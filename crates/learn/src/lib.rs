//! Offline goal-conditioned RL algorithms that learn temporal distances, and a resumable trainer.
//!
//! - [`Algorithm`], [`algos`]: the algorithms, one file each; [`components`]: the parts that they
//!   share
//! - [`AlgorithmDef`], [`Learner`]: the traits that an algorithm of another crate implements
//! - [`Training`]: from a dataset to a [`Model`], in memory or resumable, with [`Callbacks`],
//!   [`StopHandle`] and [`evaluation`]
//! - [`run`]: the folder of a run, its settings and checkpoints
//! - [`distill`]: distillation of a distance in steps, such as recorded time between landmarks,
//!   into a network in one file
//! - [`model`]: trained models, which answer queries for distances and actions
//! - [`export`]: trained models as ONNX files

mod agreement;
mod algorithm;
pub mod algos;
mod batch;
mod callbacks;
pub mod components;
mod context;
mod device;
pub mod distill;
pub mod error;
pub mod evaluation;
pub mod export;
pub mod jobs;
mod learner;
mod metrics;
pub mod model;
mod processes;
mod restore;
pub mod run;
mod scaling;
mod setting_info;
pub mod settings;
mod shared_state;
mod trainer;
mod training;

pub use agreement::agree;
pub use algorithm::{Algorithm, AlgorithmDef, LearnerConfig};
pub use batch::{DeviceBatch, DeviceGoals};
pub use callbacks::{Callbacks, StopHandle};
pub use components::Preset;
pub use context::LearnerContext;
pub use device::{ComputeDevice, OpenDevice};
pub use isochrone_nn::state_dict::StateDict;
pub use learner::{Learner, TensorDistance};
pub use metrics::Metrics;
pub use model::{LearnedDistance, LearnedPolicy, Model};
pub use processes::Processes;
pub use scaling::ScalingConfig;
pub use setting_info::SettingInfo;
pub use trainer::Outcome;
pub use training::{Training, TrainingResult};

/// Items for benchmarks of single updates and tests of checkpoints and exported files. Not part of
/// the public API.
#[doc(hidden)]
pub mod internals {
    pub use crate::{
        batch::{BatchTransform, Rows, sampler},
        export::proto::{Graph as OnnxGraph, Model as OnnxModel, Size as OnnxSize},
        restore::{restore, save},
        scaling::Scaling,
    };
}

/// Returns the CPU device with automatic differentiation.
pub fn cpu() -> burn::tensor::Device {
    burn::tensor::Device::flex().autodiff()
}
