//! Planning errors.

use super::{method::PlanMethod, transitions::Transitions};
use thiserror::Error;

/// Why planning failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There are no transitions.
    #[error("there are no transitions to plan over; hint: use a dataset with at least one transition")]
    NoTransitions,
    /// A radius or an edge length is not a positive number.
    #[error("{setting} = {value} is not a positive number; hint: use a finite number above 0")]
    Setting {
        /// The name of the setting.
        setting: &'static str,
        /// Its value.
        value: f64,
    },
    /// Rows do not have the width of the distance.
    #[error(
        "{argument} has {numbers} values, which are not rows of {width}; hint: pass complete states of the dataset"
    )]
    Shape {
        /// The name of the argument.
        argument: &'static str,
        /// The number of values in the argument.
        numbers: usize,
        /// The number of values in a state.
        width: usize,
    },
    /// The search did not reach the goal.
    #[error("no path was found; hint: allow longer edges or a larger radius, or use more transitions")]
    NoPath,
    /// The index that finds the edges of a large graph failed.
    #[error("{problem}")]
    Index {
        /// The message of the index, which ends in a hint.
        problem: String,
    },
}

pub(super) fn check(method: PlanMethod, transitions: &Transitions, width: usize) -> Result<(), PlanError> {
    let (setting, value) = match method {
        PlanMethod::Greedy { radius } => ("radius", radius),
        PlanMethod::SoftGraph { edge_scale_steps } => ("edge_scale_steps", edge_scale_steps),
        PlanMethod::Graph { max_edge_steps } => ("max_edge_steps", max_edge_steps),
    };
    if !(value.is_finite() && value > 0.0) {
        return Err(PlanError::Setting { setting, value });
    }
    let Transitions { states, next_states, .. } = transitions;
    if states.is_empty() {
        return Err(PlanError::NoTransitions);
    }
    for (argument, rows) in [("states", states), ("next_states", next_states)] {
        if rows.len() != states.len() || !rows.len().is_multiple_of(width) {
            return Err(PlanError::Shape { argument, numbers: rows.len(), width });
        }
    }
    Ok(())
}

pub(super) fn check_state(argument: &'static str, state: &[f32], width: usize) -> Result<(), PlanError> {
    match state.len() == width {
        true => Ok(()),
        false => Err(PlanError::Shape { argument, numbers: state.len(), width }),
    }
}
