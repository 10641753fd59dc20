//! Planning of paths over dataset states with a distance.
//!
//! A learned distance is most accurate between states that are near each other in time. A
//! [`Planner`] uses it there, and joins short edges into paths.
//!
//! ```text
//! dataset -> Transitions     -> Planner<D>      -> Path            one plan
//!         -> RefinedDistance -> RecordedPlanner -> PlannedPolicy   a policy that follows the waypoints
//! ```

mod config;
#[cfg(feature = "nearest")]
mod edges;
mod error;
mod graph;
mod greedy;
mod method;
mod path;
mod planner;
mod policy;
mod recorded;
mod transitions;
mod waypoints;

pub use config::PlannerConfig;
pub use error::PlanError;
pub use method::PlanMethod;
pub use path::Path;
pub use planner::Planner;
pub use policy::PlannedPolicy;
pub use recorded::RecordedPlanner;
pub use transitions::Transitions;
pub use waypoints::{Follower, Waypoints};
