//! Goal-conditioned environments.

/// The result of one environment step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepResult {
    /// The reward of the transition.
    pub reward: f64,
    /// Whether the agent is at the goal.
    pub success: bool,
    /// Whether the episode terminated, so that no action can follow.
    pub terminated: bool,
}

/// A goal-conditioned environment.
///
/// Observations and goals have the same width, as in [`GoalPolicy`](crate::GoalPolicy).
pub trait Environment: Send {
    /// Returns the width of an observation, which is also that of a goal.
    fn observation_width(&self) -> usize;

    /// Returns the width of an action.
    fn action_width(&self) -> usize;

    /// Returns the number of steps after which an episode is truncated.
    fn max_episode_steps(&self) -> usize;

    /// Starts episode `number` of `seed`. The two determine the start state, the goal and all
    /// randomness of the episode.
    fn reset(&mut self, seed: u64, number: u64);

    /// Returns the current observation.
    fn observation(&self) -> &[f32];

    /// Returns the goal of the episode, as an observation.
    fn goal(&self) -> &[f32];

    /// Applies an action. Values outside the action range of the environment are clipped.
    fn step(&mut self, action: &[f32]) -> StepResult;
}

/// A function that creates a new, independent instance of an environment on each call.
pub type EnvFactory = Box<dyn Fn() -> Box<dyn Environment> + Send + Sync>;
