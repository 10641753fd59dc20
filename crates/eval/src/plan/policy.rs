//! A policy that follows a plan.

use super::{Atlas, Search, greedy};
use isochrone_core::GoalPolicy;

/// Any policy with a plan above it. With a graph, it is told where to go next instead of where to go in the end; a greedy plan knows what was done nearby, and asks the policy only where
/// nothing was recorded.
pub struct PlannedPolicy<'a> {
    /// Who knows the way.
    pub atlas: &'a Atlas<'a>,
    /// Who walks it.
    pub policy: &'a dyn GoalPolicy,
}

impl GoalPolicy for PlannedPolicy<'_> {
    fn observation_width(&self) -> usize {
        self.policy.observation_width()
    }

    fn action_width(&self) -> usize {
        self.policy.action_width()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        let Search::Greedy { radius } = self.atlas.search else {
            return self.policy.actions(observations, &self.atlas.next(observations, goals));
        };
        let mut actions = self.policy.actions(observations, goals);
        let rows = observations.chunks_exact(self.observation_width()).zip(self.atlas.to_goals(goals));
        for (own, (here, to_goal)) in actions.chunks_exact_mut(self.action_width()).zip(rows) {
            if let Some(recorded) = greedy::action(here, &self.atlas.moves, radius, &to_goal) {
                own.copy_from_slice(recorded);
            }
        }
        actions
    }
}
