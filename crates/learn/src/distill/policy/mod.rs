//! Distillation of a planner and its low-level policy into one policy.
//!
//! ```text
//! teacher, dataset -> pool of (state, goal, action) -> regression -> DistilledPolicy -> one file
//! ```
//!
//! The teacher is any [`GoalPolicy`](isochrone_core::GoalPolicy), such as a policy that follows the
//! waypoints of a planner. The result acts without the planner and without the data. It is a policy
//! of its own, and not that of the method that learned the distance.
//!
//! A [`WaypointPolicy`] has two levels: the planner's waypoints are distilled instead of actions,
//! and the policy below the planner stays. Without a planner, they are [`Advantages`]: waypoints of
//! the data from which the goal is nearer, by a learned distance.

mod advantages;
mod config;
mod file;
mod pool;
mod student;
mod train;
mod waypoints;

pub use advantages::Advantages;
pub use config::PolicyDistillConfig;
pub use student::DistilledPolicy;
pub use train::{distill_policy, distill_waypoints, extract_waypoints};
pub use waypoints::WaypointPolicy;
