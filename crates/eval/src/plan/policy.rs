//! A policy that follows a plan.

use super::{Planner, greedy, planner::Search};
use isochrone_core::{GoalPolicy, TemporalDistance};

/// Any policy with a planner above it.
///
/// With a graph, the policy is given the next waypoint instead of the goal. A greedy plan repeats the recorded action, and asks the policy only where nothing was recorded.
pub struct PlannedPolicy<D, P> {
    /// Provides waypoints.
    pub planner: Planner<D>,
    /// The low-level policy that follows them.
    pub policy: P,
}

impl<D: TemporalDistance, P: GoalPolicy> GoalPolicy for PlannedPolicy<D, P> {
    fn observation_width(&self) -> usize {
        self.policy.observation_width()
    }

    fn action_width(&self) -> usize {
        self.policy.action_width()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        let Search::Greedy { radius } = self.planner.search else {
            return self.policy.actions(observations, &self.planner.next(observations, goals));
        };
        let mut actions = self.policy.actions(observations, goals);
        let rows = observations.chunks_exact(self.observation_width()).zip(self.planner.to_goals(goals));
        for (own, (here, to_goal)) in actions.chunks_exact_mut(self.action_width()).zip(rows) {
            if let Some(recorded) = greedy::action(here, &self.planner.transitions, radius, &to_goal) {
                own.copy_from_slice(recorded);
            }
        }
        actions
    }
}
