//! What a learner is given: rows of transitions with their goals, column by column.

use crate::Spec;

/// Transitions with goals. Row `i` of every column belongs together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GoalBatch {
    /// The number of the batch.
    pub step: u64,
    /// Which transition of the dataset each row is.
    pub transitions: Vec<u64>,
    /// `[rows, observation width]`: s.
    pub observations: Vec<f32>,
    /// `[rows, action width]`: a.
    pub actions: Vec<f32>,
    /// `[rows, observation width]`: s'.
    pub next_observations: Vec<f32>,
    /// One for each distribution of goals.
    pub goals: Vec<GoalRows>,
}

/// The goals of a batch's rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GoalRows {
    /// `[rows, observation width]`: g, a whole state; [`Spec::goal_space`] says which part of it is the goal.
    pub observations: Vec<f32>,
    /// `[rows]`: how many steps later in the same episode the goal is; otherwise [`OTHER_EPISODE`].
    pub offsets: Vec<i32>,
}

/// The offset of goals that are not ahead in the same episode: in another one, or earlier.
pub const OTHER_EPISODE: i32 = -1;

impl GoalBatch {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.transitions.len()
    }

    /// Makes room; contents are whatever they were.
    pub(super) fn resize(&mut self, rows: usize, goals: usize, spec: &Spec) {
        let (observation, action) = (rows * spec.observation.width, rows * spec.action.width);
        self.transitions.resize(rows, 0);
        self.observations.resize(observation, 0.0);
        self.actions.resize(action, 0.0);
        self.next_observations.resize(observation, 0.0);
        self.goals.resize_with(goals, GoalRows::default);
        for goal in &mut self.goals {
            goal.observations.resize(observation, 0.0);
            goal.offsets.resize(rows, 0);
        }
    }
}
