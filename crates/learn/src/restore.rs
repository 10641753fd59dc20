//! Saving and restoring a learner together with the scaling of its data.

use crate::{context::LearnerContext, learner::Learner, scaling::Scaling};
use isochrone_nn::{
    error::StateError,
    state_dict::{LearnerState, Mode, StateDict},
};

/// Restores a learner from a saved state and returns the scaling of the data.
///
/// # Errors
/// If the state lacks something or, for [`Mode::Resume`], contains anything else.
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

/// Returns the state that [`restore`] needs.
pub fn save(learner: &mut dyn Learner, scaling: &Scaling) -> LearnerState {
    let mut state = StateDict::new(Mode::Save, LearnerState::default());
    learner.visit_state(&mut state).expect("saving cannot fail");
    scaling.insert_into(state.weights());
    state.finish().expect("saving leaves nothing unused")
}
