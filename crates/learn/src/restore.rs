//! A learner and the scale of its data, to and from a saved state.

use crate::{context::LearnerContext, learner::Learner, scaling::Scaling};
use isochrone_nn::{
    error::StateError,
    state_dict::{LearnerState, Mode, StateDict},
};

/// Puts a learner where a checkpoint was, and returns the scale of the data. The state must have all that it needs and, for a run
/// that resumes, nothing else.
pub fn restore(
    learner: &mut dyn Learner,
    mode: Mode,
    state: LearnerState,
    context: &LearnerContext,
) -> Result<Scaling, StateError> {
    let mut state = StateDict::new(mode, state);
    learner.visit_state(&mut state)?;
    let scaling = Scaling::take_from(state.weights(), [context.observation_width, context.action_width])?;
    state.finish()?;
    Ok(scaling)
}

/// Everything that [`restore`] needs.
pub fn save(learner: &mut dyn Learner, scaling: &Scaling) -> LearnerState {
    let mut state = StateDict::new(Mode::Save, LearnerState::default());
    learner.visit_state(&mut state).expect("saving cannot fail");
    scaling.insert_into(state.weights());
    state.finish().expect("saving leaves nothing over")
}
