//! A policy that follows a plan.

use super::{Follower, Waypoints};
use isochrone_core::{EpisodePolicy, GoalPolicy};

/// A hierarchical policy: a planner and a low-level policy.
///
/// The policy gets the next waypoint instead of the goal. A greedy planner repeats recorded
/// actions, and uses the policy only where no transition is nearby.
pub struct PlannedPolicy<W, P> {
    /// The planner that provides waypoints.
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
    fn start_episodes(&self, n_episodes: usize) -> Option<Box<dyn EpisodePolicy + '_>> {
        let follower = self.planner.start_episodes(n_episodes)?;
        Some(Box::new(PlannedEpisodes { follower, policy: &self.policy }))
    }
}

/// A low-level policy that follows the waypoints of several episodes.
struct PlannedEpisodes<'a, P> {
    follower: Box<dyn Follower + 'a>,
    policy: &'a P,
}

impl<P: GoalPolicy> EpisodePolicy for PlannedEpisodes<'_, P> {
    fn actions(&mut self, episodes: &[usize], observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.follower.actions(self.policy, episodes, observations, goals)
    }
}
