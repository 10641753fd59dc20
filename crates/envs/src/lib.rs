//! Worlds to act in, and logs of behaviour in them.
//!
//! [`nav2d`] is the controlled study of Contrastive Metric Distillation: one-way streets in the plane that recordings never leave, so that most ways from a start to a goal have
//! to be put together. It is finite by construction, so that distances and the best that any policy can do are known exactly. [`maze`] has the maps and rules of point and ant mazes;
//! with the feature `mujoco`, `physics` moves bodies in them. [`World`] names all worlds, [`Recording`] all data sets that can be made in them.

pub mod maze;
pub mod nav2d;
#[cfg(feature = "mujoco")]
pub mod physics;
mod recordings;
mod worlds;

pub use recordings::{Behaviour, Recording};
pub use worlds::{Entrance, NoPhysics, RecordError, World, mujoco_version};
