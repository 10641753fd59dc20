//! Moves recorded nearby, and where they lead.

use super::Moves;

/// Of actions that differ by this much, one says little about the other; actions are of the order of 1, as is usual.
const ACTION_WIDTH: f64 = 0.35;

/// How far apart situations are in space.
pub(super) fn apart(from: &[f32], to: &[f32]) -> f64 {
    from.iter().zip(to).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
}

/// The moves that begin within a radius.
fn nearby<'a>(here: &'a [f32], moves: &'a Moves, radius: f64) -> impl Iterator<Item = usize> + 'a {
    let states = moves.states.chunks_exact(here.len()).enumerate();
    states.filter(move |(_, state)| apart(here, state) <= radius).map(|(number, _)| number)
}

/// The move nearby that leads nearest to the goal, and was not `passed`; none if the goal is in the ball, or no move is.
pub(super) fn next(
    here: &[f32],
    goal: &[f32],
    moves: &Moves,
    radius: f64,
    to_goal: &[f32],
    passed: &[bool],
) -> Option<usize> {
    if apart(here, goal) <= radius {
        return None;
    }
    let is_new = |number: &usize| !passed.get(*number).copied().unwrap_or(false);
    nearby(here, moves, radius)
        .filter(is_new)
        .filter(|&number| to_goal[number].is_finite())
        .min_by(|&a, &b| to_goal[a].total_cmp(&to_goal[b]))
}

/// The action of the move nearby that promises most. Chance decides where a single move leads, so that what an action promises is the mean of `e^-d` over moves with similar actions.
pub(super) fn action<'a>(here: &[f32], moves: &'a Moves, radius: f64, to_goal: &[f32]) -> Option<&'a [f32]> {
    let width = moves.actions.len() * here.len() / moves.states.len();
    if width == 0 {
        return None;
    }
    let of = |number: usize| &moves.actions[number * width..][..width];
    let near: Vec<usize> =
        nearby(here, moves, radius).filter(|&number| to_goal[number].is_finite()).collect();
    let least = near.iter().map(|&number| to_goal[number]).fold(f32::INFINITY, f32::min);
    let promise = |&number: &usize| {
        let (mut sum, mut weights) = (0.0, 0.0);
        for &other in &near {
            let weight = (-0.5 * (apart(of(number), of(other)) / ACTION_WIDTH).powi(2)).exp();
            sum += weight * f64::from(least - to_goal[other]).exp();
            weights += weight;
        }
        sum / weights
    };
    let promises = near.iter().map(|number| (*number, promise(number)));
    promises.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| of(number))
}
