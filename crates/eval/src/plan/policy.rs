//! A policy that follows a plan.

use super::Waypoints;
use isochrone_core::GoalPolicy;

/// Any policy with a planner above it.
///
/// The policy is given the next waypoint instead of the goal. A greedy plan repeats the recorded action, and asks the policy only where nothing was recorded.
pub struct PlannedPolicy<W, P> {
    /// Provides waypoints.
    pub planner: W,
    /// The low-level policy that follows them.
    pub policy: P,
}

impl<W: Waypoints, P: GoalPolicy> GoalPolicy for PlannedPolicy<W, P> {
    fn observation_width(&self) -> usize {
        self.policy.observation_width()
    }

    fn action_width(&self) -> usize {
        self.policy.action_width()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.planner.actions(&self.policy, observations, goals)
    }
}
