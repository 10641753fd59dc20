//! Batches: rows of transitions with their goals, stored column by column.

use crate::Spec;

/// A batch of transitions with goals. Row `i` of every column belongs to the same transition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GoalBatch {
    /// The number of the batch.
    pub step: u64,
    /// The number of each row's transition in the dataset.
    pub transitions: Vec<u64>,
    /// `[rows, observation width]`: s.
    pub observations: Vec<f32>,
    /// `[rows, action width]`: a.
    pub actions: Vec<f32>,
    /// `[rows, observation width]`: s'.
    pub next_observations: Vec<f32>,
    /// The goals, for each goal distribution.
    pub goals: Vec<GoalRows>,
}

/// The goals of a batch's rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GoalRows {
    /// `[rows, observation width]`: g, a full state; [`Spec::goal_space`] selects the dimensions of
    /// the goal.
    pub observations: Vec<f32>,
    /// `[rows]`: the number of steps to the goal in the same episode; otherwise [`OTHER_EPISODE`].
    pub offsets: Vec<i32>,
}

/// The offset of goals that are not ahead in the same episode, but in another one or earlier.
pub const OTHER_EPISODE: i32 = -1;

impl GoalBatch {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.transitions.len()
    }

    /// Resizes the columns; their contents are unspecified.
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
