//! The next waypoint of a plan.

use super::{ChanceModel, plan::Plan, solve::Choice};
use crate::refined::rows::apart;

/// The look-ahead, in radii.
const LOOK_AHEAD: f32 = 4.0;
/// The maximum number of waypoints ahead.
const MAX_AHEAD: usize = 12;
/// Within this many radii, the goal itself is the waypoint.
const GOAL_RADII: f32 = 2.4;

/// A waypoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// The goal itself.
    Goal,
    /// A row of the dataset.
    Row(u32),
    /// No path is known.
    NoPath,
}

/// Returns the farthest waypoint within the look-ahead that can be reached along a straight line
/// that data cover, without a hazard; at least the next one.
pub(super) fn aim(model: &ChanceModel, plan: &Plan, here: &[f32], left: usize) -> Aim {
    if apart(here, &plan.goal) <= GOAL_RADII * model.radius && model.chord().is_covered(here, &plan.goal) {
        return Aim::Goal;
    }
    let (landmark, _) = model.points.nearest_one(here);
    let (choice, taken) = plan.choice(model, landmark, left);
    let next = match choice {
        Choice::Goal => return Aim::Goal,
        Choice::None => return Aim::NoPath,
        Choice::Enter => return model.entry_rows[landmark as usize].map_or(Aim::NoPath, Aim::Row),
        Choice::Move(index) => model.problem().moves()[index as usize].to,
    };
    let (mut ahead, mut at, mut left) = (vec![Aim::Row(model.landmark_rows[next as usize])], next, left);
    let mut states: Vec<&[f32]> = vec![model.landmark(next)];
    left = left.saturating_sub(taken);
    while ahead.len() < MAX_AHEAD {
        let (choice, taken) = plan.choice(model, at, left);
        left = left.saturating_sub(taken);
        match choice {
            Choice::Move(index) => at = model.problem().moves()[index as usize].to,
            Choice::Goal => {
                ahead.push(Aim::Goal);
                states.push(&plan.goal);
                break;
            }
            Choice::Enter | Choice::None => break,
        }
        if apart(model.landmark(at), here) > LOOK_AHEAD * model.radius {
            break;
        }
        ahead.push(Aim::Row(model.landmark_rows[at as usize]));
        states.push(model.landmark(at));
    }
    let chord = model.chord();
    let farthest = (1..ahead.len()).rev().find(|&number| chord.is_safe(here, states[number]));
    ahead[farthest.unwrap_or(0)]
}
