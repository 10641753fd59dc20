//! The types that most programs need: `use isochrone::prelude::*;`.

#[cfg(feature = "learn")]
pub use crate::learn::{Algorithm, Callbacks, Model, Preset, StopHandle, Training};
pub use crate::{
    Discount, EnvFactory, Environment, GoalPolicy, ShapeError, StepResult, TemporalDistance,
    calibration::Calibrated,
    data::{Dataset, formats::ReadOptions},
    envs::{DatasetId, EnvId},
    exact::{ExactSolver, GridWorld, TabularMdp},
    plan::{Path, PlanMethod, PlannedPolicy, Planner, PlannerConfig, Transitions, Vertices},
    rollout::{RolloutConfig, success_rate},
    round_trip::RoundTrip,
};

/// The types that a custom algorithm needs: `use isochrone::prelude::{algorithm::*, *};`.
#[cfg(feature = "learn")]
pub mod algorithm {
    pub use crate::{
        data::sampling::GoalDistributionConfig,
        learn::{
            AlgorithmDef, DeviceBatch, Learner, LearnerContext, Metrics, StateDict, TensorDistance,
            components::*,
        },
        nn::{
            error::{ConfigError, StateError},
            loss::*,
            module::{Actor, Metric},
        },
    };
}
