//! Goal-conditioned policies, learned, exact or from elsewhere.

use crate::shape::{ShapeError, check_pairs, check_row};
use std::sync::Arc;

/// A policy that acts towards a goal.
///
/// Observations and goals are rows of single-precision numbers of one width, row by row.
pub trait GoalPolicy: Send + Sync {
    /// Numbers of an observation, and of a goal.
    fn observation_width(&self) -> usize;

    /// Numbers of an action.
    fn action_width(&self) -> usize;

    /// The most likely action at row `i` of `observations` towards row `i` of `goals`, both full
    /// states; in the units of the data.
    ///
    /// # Shapes
    /// `[n, observation width]` twice gives `[n, action width]`.
    ///
    /// # Panics
    /// With the message of [`check_actions`](Self::check_actions) where that fails.
    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32>;

    /// The most likely action at one observation towards one goal.
    ///
    /// # Errors
    /// If one of them does not have [`observation_width`](Self::observation_width) numbers.
    fn action(&self, observation: &[f32], goal: &[f32]) -> Result<Vec<f32>, ShapeError> {
        check_row("observation", observation, self.observation_width())?;
        check_row("goal", goal, self.observation_width())?;
        Ok(self.actions(observation, goal))
    }

    /// The number of actions that [`actions`](Self::actions) would return.
    ///
    /// # Errors
    /// If an argument is not a whole number of rows, or they do not have equally many.
    fn check_actions(&self, observations: &[f32], goals: &[f32]) -> Result<usize, ShapeError> {
        check_pairs(("observations", observations), ("goals", goals), self.observation_width())
    }
}

forward!(GoalPolicy for &T | Box<T> | Arc<T>, {
    fn observation_width() -> usize;
    fn action_width() -> usize;
    fn actions(observations: &[f32], goals: &[f32]) -> Vec<f32>;
});
