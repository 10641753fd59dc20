//! Common imports of the algorithms.

pub use crate::{
    algorithm::AlgorithmDef,
    batch::DeviceBatch,
    components::*,
    context::LearnerContext,
    learner::{Learner, TensorDistance},
    metrics::Metrics,
};
pub use burn::{module::Module, tensor::Tensor};
pub use isochrone_data::sampling::GoalDistributionConfig;
pub use isochrone_nn::{
    error::{ConfigError, StateError},
    loss::*,
    module::{Actor, Encoder, EncoderConfig, Metric, PairHead, PairHeadConfig, Potential},
    state_dict::StateDict,
};
pub use serde::{Deserialize, Serialize};
