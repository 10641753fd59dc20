//! Goal-conditioned environments.

/// The result of one action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepResult {
    /// The reward of the action.
    pub reward: f64,
    /// Whether the goal is reached now.
    pub success: bool,
    /// Whether the episode terminated: no action can follow.
    pub terminated: bool,
}

/// An environment with an agent that acts towards a goal.
///
/// Observations and goals are rows of one width, as in [`GoalPolicy`](crate::GoalPolicy).
pub trait Environment: Send {
    /// Numbers of an observation, and of a goal.
    fn observation_width(&self) -> usize;

    /// Numbers of an action.
    fn action_width(&self) -> usize;

    /// Actions after which an episode is truncated.
    fn max_episode_steps(&self) -> usize;

    /// Starts episode `number` of `seed`: its start, its goal and all randomness in it follow from the two.
    fn reset(&mut self, seed: u64, number: u64);

    /// The current observation.
    fn observation(&self) -> &[f32];

    /// The goal of the episode, as an observation.
    fn goal(&self) -> &[f32];

    /// Applies an action. Numbers outside the range of the environment are clipped.
    fn step(&mut self, action: &[f32]) -> StepResult;
}

/// Makes independent environments of one kind, as often as it is called.
pub type EnvFactory = Box<dyn Fn() -> Box<dyn Environment> + Send + Sync>;
