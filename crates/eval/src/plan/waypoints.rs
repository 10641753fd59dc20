//! The interface between planners and low-level policies.

use isochrone_core::GoalPolicy;

/// A planner that provides waypoints to a policy.
pub trait Waypoints: Send + Sync {
    /// Returns the next waypoint from each row of `from` on the path to the same row of `goals`;
    /// the goal itself if it is near or no path is known.
    ///
    /// # Shapes
    /// `[n, width]` twice gives `[n, width]`.
    fn next(&self, from: &[f32], goals: &[f32]) -> Vec<f32>;

    /// Returns whether a path is known from each row of `from` to the same row of `goals`, or the
    /// goal is near. If not, the policy gets the goal itself.
    ///
    /// # Shapes
    /// `[n, width]` twice gives `[n]`.
    fn is_reachable(&self, from: &[f32], goals: &[f32]) -> Vec<bool>;

    /// Returns the actions of a policy that follows the plan, `[n, action width]`.
    fn actions(&self, policy: &dyn GoalPolicy, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        policy.actions(observations, &self.next(observations, goals))
    }
}

impl<W: Waypoints + ?Sized> Waypoints for Box<W> {
    fn next(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        (**self).next(from, goals)
    }

    fn is_reachable(&self, from: &[f32], goals: &[f32]) -> Vec<bool> {
        (**self).is_reachable(from, goals)
    }

    fn actions(&self, policy: &dyn GoalPolicy, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        (**self).actions(policy, observations, goals)
    }
}
