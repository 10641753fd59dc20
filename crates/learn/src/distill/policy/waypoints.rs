//! A policy of two levels.

use super::DistilledPolicy;
use isochrone_core::GoalPolicy;

/// A policy of two levels, which needs no planner: a distilled network chooses the displacement to
/// the next waypoint, and a policy acts towards it.
///
/// The lower level knows how to move, so that the upper one only has to learn where to.
pub struct WaypointPolicy<'a> {
    network: &'a DistilledPolicy,
    policy: &'a dyn GoalPolicy,
}

impl<'a> WaypointPolicy<'a> {
    /// The name of the file of the upper level in the folder of a run.
    pub const FILE_NAME: &'static str = "distilled-waypoints.safetensors";

    /// Combines a network that [`distill_waypoints`](super::distill_waypoints) trained with a
    /// policy for the same states; `None` if it was trained for actions or other states.
    pub fn new(network: &'a DistilledPolicy, policy: &'a dyn GoalPolicy) -> Option<Self> {
        let fits = network.has_displacements() && network.observation_width() == policy.observation_width();
        fits.then_some(Self { network, policy })
    }

    /// Returns the next waypoint from each row of `from` on the path to the same row of `goals`.
    ///
    /// # Shapes
    /// `[n, observation width]` twice gives `[n, observation width]`.
    pub fn waypoints(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        let (goal, width) = (self.network.about().goal.clone(), self.observation_width());
        let displacements = self.network.actions(from, goals);
        let mut waypoints = from.to_vec();
        for (row, displacement) in
            waypoints.chunks_exact_mut(width).zip(displacements.chunks_exact(goal.len()))
        {
            row[goal.clone()].iter_mut().zip(displacement).for_each(|(x, step)| *x += step);
        }
        waypoints
    }
}

impl GoalPolicy for WaypointPolicy<'_> {
    fn observation_width(&self) -> usize {
        self.policy.observation_width()
    }

    fn action_width(&self) -> usize {
        self.policy.action_width()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.policy.actions(observations, &self.waypoints(observations, goals))
    }
}
