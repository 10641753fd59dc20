//! What a teacher does at states of a dataset.

use super::PolicyDistillConfig;
use isochrone_core::{GoalPolicy, rng};
use isochrone_data::Dataset;

/// The number of goals per call of the teacher. A planner searches once for each goal.
const GOALS_PER_CALL: usize = 32;
/// One start in this many is near its goal.
const NEAR_EVERY: usize = 4;
/// The maximum number of recorded steps from a near start to its goal, plus one.
const MAX_NEAR_STEPS: usize = 32;
/// The random stream of goals.
const GOAL_STREAM: u64 = 1 << 34;
/// The first random stream of starts.
const START_STREAM: u64 = GOAL_STREAM + 1;

/// Actions of a teacher, row by row.
pub struct ActionPool {
    /// `[n, observation width]`
    pub observations: Vec<f32>,
    /// `[n, observation width]`
    pub goals: Vec<f32>,
    /// `[n, action width]`, in the units of the dataset.
    pub actions: Vec<f32>,
    /// The first row with a goal that is held out to measure the agreement with the teacher.
    pub first_held_out: usize,
}

impl ActionPool {
    /// Lets the teacher act at random states towards random goals of the dataset; one goal in
    /// twenty, and at least one, is held out. Some starts were recorded shortly before their goal:
    /// random starts are hardly ever near, but all episodes end there.
    pub fn draw(teacher: &dyn GoalPolicy, data: &Dataset, config: &PolicyDistillConfig) -> Self {
        let n_states = data.index().n_states() as usize;
        let draw = |random: &mut _| rng::below(random, n_states) as u64;
        let random = &mut rng::stream(config.seed, GOAL_STREAM);
        let drawn: Vec<u64> = (0..config.goals).map(|_| draw(random)).collect();
        let before = |goal: u64, random: &mut _| {
            let (_, row) = data.index().row_of_state(goal);
            goal - rng::below(random, MAX_NEAR_STEPS.min(row + 1)) as u64
        };
        let n_held_out = (config.goals / 20).max(1);
        let mut pool = Self {
            observations: Vec::new(),
            goals: Vec::new(),
            actions: Vec::new(),
            first_held_out: (config.goals - n_held_out) * config.starts_per_goal,
        };
        for (call, drawn) in drawn.chunks(GOALS_PER_CALL).enumerate() {
            let random = &mut rng::stream(config.seed, START_STREAM + call as u64);
            let (mut observations, mut goals) = (Vec::new(), Vec::new());
            for &goal in drawn {
                for start in 0..config.starts_per_goal {
                    let is_near = start % NEAR_EVERY == 0;
                    let start = if is_near { before(goal, random) } else { draw(random) };
                    observations.extend(data.state(start));
                    goals.extend(data.state(goal));
                }
            }
            pool.actions.extend(teacher.actions(&observations, &goals));
            pool.observations.extend(observations);
            pool.goals.extend(goals);
        }
        pool
    }
}
