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

    /// Returns the length of the path from each row of `from` to the same row of `goals`, in steps;
    /// infinite without a path. If lengths are unknown, they are 0 where there is a path.
    ///
    /// # Shapes
    /// `[n, width]` twice gives `[n]`.
    fn path_steps(&self, from: &[f32], goals: &[f32]) -> Vec<f64> {
        let reachable = self.is_reachable(from, goals).into_iter();
        reachable.map(|is_reachable| if is_reachable { 0.0 } else { f64::INFINITY }).collect()
    }

    /// Returns the hop ratio of the path from each row of `from` to the same row of `goals`, see
    /// [`Path::hop_ratio`](super::Path::hop_ratio), where there is a path; `None` if the planner
    /// has no distance from the start to the goal that is independent of its paths.
    fn hop_ratios(&self, from: &[f32], goals: &[f32]) -> Option<Vec<f64>> {
        let _ = (from, goals);
        None
    }

    /// Starts following paths in `n_episodes` episodes; `None` if the next waypoint depends only on
    /// the current state and the goal.
    fn start_episodes(&self, n_episodes: usize) -> Option<Box<dyn Follower + '_>> {
        let _ = n_episodes;
        None
    }

    /// Returns the actions of a policy that follows the plan, `[n, action width]`.
    fn actions(&self, policy: &dyn GoalPolicy, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        policy.actions(observations, &self.next(observations, goals))
    }
}

/// A planner in the course of several episodes. It may remember the path that it follows.
pub trait Follower {
    /// Returns the next waypoint of each of some episodes, given by their index; the goal itself
    /// if it is near or no path is known. Row `i` is that of `episodes[i]`.
    ///
    /// # Shapes
    /// `from, goals: [n, width]` give `[n, width]`.
    fn next(&mut self, episodes: &[usize], from: &[f32], goals: &[f32]) -> Vec<f32>;

    /// Returns the actions of a policy that follows the plan, `[n, action width]`.
    fn actions(
        &mut self,
        policy: &dyn GoalPolicy,
        episodes: &[usize],
        observations: &[f32],
        goals: &[f32],
    ) -> Vec<f32> {
        policy.actions(observations, &self.next(episodes, observations, goals))
    }
}

impl<W: Waypoints + ?Sized> Waypoints for Box<W> {
    fn next(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        (**self).next(from, goals)
    }

    fn is_reachable(&self, from: &[f32], goals: &[f32]) -> Vec<bool> {
        (**self).is_reachable(from, goals)
    }

    fn path_steps(&self, from: &[f32], goals: &[f32]) -> Vec<f64> {
        (**self).path_steps(from, goals)
    }

    fn hop_ratios(&self, from: &[f32], goals: &[f32]) -> Option<Vec<f64>> {
        (**self).hop_ratios(from, goals)
    }

    fn start_episodes(&self, n_episodes: usize) -> Option<Box<dyn Follower + '_>> {
        (**self).start_episodes(n_episodes)
    }

    fn actions(&self, policy: &dyn GoalPolicy, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        (**self).actions(policy, observations, goals)
    }
}
