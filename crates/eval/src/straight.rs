//! A controller that moves straight towards its goal, to evaluate planners without a trained
//! policy.

use isochrone_core::{GoalPolicy, statistics};
use isochrone_data::Dataset;
use thiserror::Error;

/// The number of transitions that gains are estimated from.
const TRANSITIONS: u64 = 20_000;
/// Smaller actions are ignored: noise dominates their effect.
const MIN_ACTION: f32 = 0.25;
/// The minimum share of these transitions in which the position moves in the direction of the
/// action; walls stop the others.
const MIN_FOLLOWED: f64 = 0.7;

/// A controller for environments whose action moves the position: `action = clip(gain (goal -
/// position))`, where dimension `i` of the action moves column `i` of the observation. The gain
/// reaches the goal in one step, if that is possible.
#[derive(Debug, Clone, PartialEq)]
pub struct StraightController {
    observation_width: usize,
    /// By dimension of the action.
    gains: Vec<f32>,
}

/// Why data do not determine a controller.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StraightError {
    /// There are no actions, or more than observation columns.
    #[error(
        "{actions} action dimensions and {observations} observation columns; hint: every action dimension has to move the observation column with its index"
    )]
    Widths {
        /// The number of action dimensions.
        actions: usize,
        /// The number of observation columns.
        observations: usize,
    },
    /// The action does not move the position.
    #[error(
        "observation column {dimension} follows action dimension {dimension} in {:.0} % of the steps; hint: use a trained policy, since actions do not move the position",
        100.0 * .followed
    )]
    NotMoved {
        /// The dimension.
        dimension: usize,
        /// The share of steps in which the column moves in the direction of the action.
        followed: f64,
    },
}

impl StraightController {
    /// Estimates gains from recorded transitions: the median of action over displacement.
    ///
    /// # Errors
    /// If actions do not move the observation columns with the same index.
    pub fn fit(data: &Dataset) -> Result<Self, StraightError> {
        let (spec, index) = (data.spec(), data.index());
        let (observations, actions) = (spec.observation.width, spec.action.width);
        if actions == 0 || actions > observations {
            return Err(StraightError::Widths { actions, observations });
        }
        let (total, mut moved) = (index.n_transitions(), vec![Vec::new(); actions]);
        for number in 0..total.min(TRANSITIONS) {
            let (episode, row) = index.row_of_transition(number * total / total.min(TRANSITIONS));
            let view = data.episode(episode);
            let states = &view.observations[row * observations..][..2 * observations];
            for (dimension, moved) in moved.iter_mut().enumerate() {
                let action = view.actions[row * actions + dimension].clamp(-1.0, 1.0);
                if action.abs() >= MIN_ACTION {
                    moved.push(f64::from((states[observations + dimension] - states[dimension]) / action));
                }
            }
        }
        let gain = |(dimension, moved): (usize, Vec<f64>)| {
            let followed = moved.iter().filter(|per_action| **per_action > 0.0).count() as f64;
            let followed = followed / moved.len().max(1) as f64;
            let per_action = if moved.is_empty() { 0.0 } else { statistics::median(moved) };
            match followed >= MIN_FOLLOWED && per_action > 0.0 {
                true => Ok((1.0 / per_action) as f32),
                false => Err(StraightError::NotMoved { dimension, followed }),
            }
        };
        let gains = moved.into_iter().enumerate().map(gain).collect::<Result<_, _>>()?;
        Ok(Self { observation_width: observations, gains })
    }

    /// Returns the gain of each action dimension, per unit of the observation.
    pub fn gains(&self) -> &[f32] {
        &self.gains
    }
}

impl GoalPolicy for StraightController {
    fn observation_width(&self) -> usize {
        self.observation_width
    }

    fn action_width(&self) -> usize {
        self.gains.len()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.check_actions(observations, goals).unwrap_or_else(isochrone_core::ShapeError::panic);
        let rows =
            observations.chunks_exact(self.observation_width).zip(goals.chunks_exact(self.observation_width));
        let action = |(here, goal): (&[f32], &[f32])| -> Vec<f32> {
            let of = |(dimension, gain): (usize, &f32)| {
                ((goal[dimension] - here[dimension]) * gain).clamp(-1.0, 1.0)
            };
            self.gains.iter().enumerate().map(of).collect()
        };
        rows.flat_map(action).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::rng;

    #[test]
    fn gains_are_those_of_the_environment() {
        let mut random = rng::stream(1, 0);
        let (mut here, mut states, mut actions) = ([0f32; 2], vec![0.0; 2], Vec::new());
        for _ in 0..500 {
            for (dimension, per_action) in [0.2, 0.5].into_iter().enumerate() {
                let action = (2.0 * rng::unit_f64(&mut random) - 1.0) as f32;
                here[dimension] += per_action * action;
                actions.push(action);
            }
            states.extend(here);
        }
        let data = Dataset::from_arrays(2, 2, [(states.clone(), actions.clone())]).unwrap();
        let controller = StraightController::fit(&data).unwrap();
        assert!((controller.gains()[0] - 5.0).abs() < 1e-2 && (controller.gains()[1] - 2.0).abs() < 1e-2);
        assert_eq!(controller.actions(&[0.0, 0.0], &[9.0, -0.25]), [1.0, -0.5]);
        // Actions of the other direction do not move the position.
        let reversed: Vec<f32> = actions.iter().map(|action| -action).collect();
        let data = Dataset::from_arrays(2, 2, [(states, reversed)]).unwrap();
        assert!(matches!(StraightController::fit(&data), Err(StraightError::NotMoved { dimension: 0, .. })));
    }
}
