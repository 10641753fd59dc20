//! Goals of a policy as displacements from its states.

use crate::{context::LearnerContext, processes::Processes};
use burn::tensor::{Tensor, TensorData};
use isochrone_nn::{
    error::StateError,
    module::Actor,
    state_dict::{Mode, StateDict},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What a policy sees of its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalInput {
    /// The goal *g*.
    #[default]
    State,
    /// The displacement `g - s`, each dimension divided by its root mean square in the first batch.
    ///
    /// Waypoints are near: in a large maze, two places a few steps apart differ by little of the
    /// range of the data, and a network needs long to learn that this little decides.
    Displacement,
}

/// A displacement with a smaller root mean square is treated as constant.
const MIN_DEVIATION: f32 = 1e-6;

/// Computes displacements from states to goals in units of their root mean square.
#[derive(Debug, Clone)]
pub(super) struct Displacement {
    /// The dimensions of a state that are the policy's goal input.
    goal: Range<usize>,
    /// One over the root mean square of each dimension; all 0 before the first batch.
    factor: Vec<f32>,
    processes: Processes,
}

impl Displacement {
    pub fn new(context: &LearnerContext) -> Self {
        let goal = context.goal.clone();
        Self { factor: vec![0.0; goal.len()], goal, processes: context.processes.clone() }
    }

    /// Returns the displacements `[n, goal width]` from `states: [n, observation width]` to `goals:
    /// [n, goal width]`. The first ones determine the units.
    pub fn of(&mut self, states: Tensor<2>, goals: Tensor<2>) -> Tensor<2> {
        let displacements = goals - states.narrow(1, self.goal.start, self.goal.len());
        if self.is_unknown() {
            self.measure(displacements.clone());
        }
        let factor = TensorData::new(self.factor.clone(), [1, self.factor.len()]);
        let factor = Tensor::<2>::from_data(factor, &displacements.device());
        displacements * factor
    }

    fn is_unknown(&self) -> bool {
        self.factor.iter().all(|&factor| factor == 0.0)
    }

    fn measure(&mut self, displacements: Tensor<2>) {
        let mean_squares = displacements.detach().square().mean_dim(0).into_data();
        let mut mean_squares: Vec<f32> = mean_squares.try_into_vec().expect("single precision");
        if let Some(group) = self.processes.all() {
            group.mean("displacements", &mut mean_squares);
        }
        let deviations = mean_squares.into_iter().map(f32::sqrt);
        self.factor = deviations.map(|rms| if rms < MIN_DEVIATION { 1.0 } else { 1.0 / rms }).collect();
    }

    /// Returns the actor of states and goals that equals `actor` of states and displacements.
    pub fn folded_into(&self, actor: Actor) -> Actor {
        actor.with_displacements(self.goal.clone(), &self.factor)
    }

    /// Saves or loads the units.
    pub fn visit_state(&mut self, name: &str, state: &mut StateDict) -> Result<(), StateError> {
        let (mode, shape) = (state.mode(), [self.factor.len()]);
        match mode {
            Mode::Save => state.weights().insert(name.to_owned(), &shape, self.factor.clone()),
            Mode::Resume | Mode::Load => self.factor = state.weights().take(name, &shape)?,
        }
        Ok(())
    }
}
