//! The interface of goal-conditioned policies.

use crate::shape::{ShapeError, check_pairs, check_row};
use std::sync::Arc;

/// A goal-conditioned policy.
///
/// Observations and goals are row-major slices of `f32` of the same width.
pub trait GoalPolicy: Send + Sync {
    /// Returns the width of an observation, which is also that of a goal.
    fn observation_width(&self) -> usize;

    /// Returns the width of an action.
    fn action_width(&self) -> usize;

    /// Returns the most likely action at row `i` of `observations` for the goal in row `i` of
    /// `goals`, for every `i`. Goals are full states. Actions are in the units of the dataset.
    ///
    /// # Shapes
    /// `observations, goals: [n, observation width]` give `[n, action width]`.
    ///
    /// # Panics
    /// If [`check_actions`](Self::check_actions) fails, with its message.
    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32>;

    /// Starts `n_episodes` episodes of a policy that remembers their course, such as its progress
    /// along a path; `None` if actions depend only on the observation and the goal.
    fn start_episodes(&self, n_episodes: usize) -> Option<Box<dyn EpisodePolicy + '_>> {
        let _ = n_episodes;
        None
    }

    /// Returns the most likely action at one observation for one goal.
    ///
    /// # Errors
    /// If one of the two does not have [`observation_width`](Self::observation_width) numbers.
    fn action(&self, observation: &[f32], goal: &[f32]) -> Result<Vec<f32>, ShapeError> {
        check_row("observation", observation, self.observation_width())?;
        check_row("goal", goal, self.observation_width())?;
        Ok(self.actions(observation, goal))
    }

    /// Returns the number of actions that [`actions`](Self::actions) would return.
    ///
    /// # Errors
    /// If the length of an argument is not a multiple of the width, or the numbers of rows differ.
    fn check_actions(&self, observations: &[f32], goals: &[f32]) -> Result<usize, ShapeError> {
        check_pairs(("observations", observations), ("goals", goals), self.observation_width())
    }
}

/// A policy in the course of several episodes.
pub trait EpisodePolicy {
    /// Returns the next action of each of some episodes, given by their index in the order of
    /// [`start_episodes`](GoalPolicy::start_episodes). Row `i` is that of `episodes[i]`.
    ///
    /// # Shapes
    /// `observations, goals: [n, observation width]` give `[n, action width]`.
    fn actions(&mut self, episodes: &[usize], observations: &[f32], goals: &[f32]) -> Vec<f32>;
}

forward!(GoalPolicy for &T | Box<T> | Arc<T>, {
    fn observation_width() -> usize;
    fn action_width() -> usize;
    fn actions(observations: &[f32], goals: &[f32]) -> Vec<f32>;
    fn start_episodes(n_episodes: usize) -> Option<Box<dyn EpisodePolicy + '_>>;
});
