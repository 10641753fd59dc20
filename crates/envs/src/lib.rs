//! Goal-conditioned environments, and datasets that are collected in them.
//!
//! [`nav2d`] is the controlled study of Contrastive Metric Distillation: one-way streets in the
//! plane, each dataset episode on one of them, so that most paths from a start to a goal have to be
//! stitched together. It is finite by construction, so that distances and optimal success rates are
//! known exactly. [`maze`] has the maps and rules of point and ant mazes; with the feature
//! `mujoco`, `maze::physics` simulates bodies in them.
//!
//! [`EnvId`] and [`DatasetId`] name all environments and datasets of the registry. An environment
//! of one's own does not need the registry: whatever implements
//! [`Environment`](isochrone_core::Environment) can be evaluated.

mod definition;
mod geometry;
pub mod maze;
pub mod nav2d;
mod registry;

pub use definition::{BodyShape, CollectionPolicy, EnvDefinition, EnvError, EnvSpec};
pub use geometry::{Capsule, Point, Rectangle};
pub use maze::mujoco_version;
pub use registry::{DatasetId, EnvId};
