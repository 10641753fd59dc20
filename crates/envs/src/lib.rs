//! Goal-conditioned environments and the datasets collected in them.
//!
//! [`nav2d`] is the environment of the controlled study of Contrastive Metric Distillation: one-way
//! streets in the plane. Each dataset episode stays on one street, so most paths from a start to a
//! goal have to be stitched together. The environment is finite, so distances and optimal success
//! rates are known exactly. [`maze`] has the maps and rules of point and ant mazes; with the
//! feature `mujoco`, `maze::physics` simulates bodies in them.
//!
//! [`EnvId`] and [`DatasetId`] name all environments and datasets of the registry. A custom
//! environment does not need the registry: any type that implements
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
