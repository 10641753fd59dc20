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
mod displacements;
#[cfg(feature = "nearest")]
mod edges;
mod error;
pub(crate) mod goal_cache;
mod graph;
mod greedy;
mod growing_tree;
mod latent_states;
mod method;
mod partial_goals;
mod path;
mod planner;
mod policy;
mod pursuit;
mod recorded;
mod shortest;
mod soft;
mod soft_search;
mod transitions;
mod vertices;
mod waypoints;

pub use config::PlannerConfig;
pub use displacements::WaypointDisplacements;
pub use error::PlanError;
pub use method::PlanMethod;
pub use partial_goals::PartialGoals;
pub use path::Path;
pub use planner::Planner;
pub use policy::PlannedPolicy;
pub use recorded::RecordedPlanner;
pub use transitions::Transitions;
pub use vertices::Vertices;
pub use waypoints::{Follower, Waypoints};
