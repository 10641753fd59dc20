//! Worlds to act in, and logs of behaviour in them.
//!
//! [`nav2d`] is the controlled study of Contrastive Metric Distillation: one-way streets in the plane that recordings never leave, so that most ways from a start to a goal have
//! to be put together. It is finite by construction, so that distances and the best that any policy can do are known exactly. [`World`] names all worlds.

pub mod nav2d;
mod worlds;

pub use worlds::World;
