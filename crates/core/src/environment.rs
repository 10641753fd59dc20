//! A world that can be acted in.

/// What an action led to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// What the world pays for it.
    pub reward: f64,
    /// Whether one is at the goal now.
    pub is_reached: bool,
    /// Whether nothing can follow.
    pub is_over: bool,
}

/// A world with one who acts in it, towards a goal. Situations and goals are rows of one width, as in [`GoalPolicy`](crate::GoalPolicy).
pub trait Environment: Send {
    /// Numbers of a situation.
    fn observation_width(&self) -> usize;

    /// Numbers of an action.
    fn action_width(&self) -> usize;

    /// Actions after which an episode is given up, by the rules of the world.
    fn step_limit(&self) -> usize;

    /// Begins episode `number` of `seed`: its start, its goal and all chance in it follow from the two.
    fn reset(&mut self, seed: u64, number: u64);

    /// What is seen now.
    fn observation(&self) -> &[f32];

    /// Where one wants to be, as it would be seen.
    fn goal(&self) -> &[f32];

    /// Acts. Numbers beyond what the world allows are clipped.
    fn step(&mut self, action: &[f32]) -> Step;
}
