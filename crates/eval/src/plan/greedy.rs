//! Greedy planning over nearby transitions.

use super::transitions::Transitions;

/// The bandwidth of the kernel over actions; actions are of the order of 1.
const ACTION_WIDTH: f64 = 0.35;

/// Returns the Euclidean distance between two states.
pub(super) fn apart(from: &[f32], to: &[f32]) -> f64 {
    from.iter().zip(to).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
}

/// Returns the transitions that start within a radius.
fn nearby<'a>(
    here: &'a [f32],
    transitions: &'a Transitions,
    radius: f64,
) -> impl Iterator<Item = usize> + 'a {
    let states = transitions.states.chunks_exact(here.len()).enumerate();
    states.filter(move |(_, state)| apart(here, state) <= radius).map(|(number, _)| number)
}

/// Returns the nearby transition that is not `visited` and leads nearest to the goal; `None` if the
/// goal is within the radius, or no such transition is.
pub(super) fn next(
    here: &[f32],
    goal: &[f32],
    transitions: &Transitions,
    radius: f64,
    to_goal: &[f32],
    visited: &[bool],
) -> Option<usize> {
    if apart(here, goal) <= radius {
        return None;
    }
    let is_new = |number: &usize| !visited.get(*number).copied().unwrap_or(false);
    nearby(here, transitions, radius)
        .filter(is_new)
        .filter(|&number| to_goal[number].is_finite())
        .min_by(|&a, &b| to_goal[a].total_cmp(&to_goal[b]))
}

/// Returns the action of a nearby transition with the highest value. Transitions are stochastic, so
/// the value of an action is the mean of `e^-d` over nearby transitions with similar actions.
pub(super) fn action<'a>(
    here: &[f32],
    transitions: &'a Transitions,
    radius: f64,
    to_goal: &[f32],
) -> Option<&'a [f32]> {
    let width = transitions.actions.len() * here.len() / transitions.states.len();
    if width == 0 {
        return None;
    }
    let of = |number: usize| &transitions.actions[number * width..][..width];
    let near: Vec<usize> =
        nearby(here, transitions, radius).filter(|&number| to_goal[number].is_finite()).collect();
    let min = near.iter().map(|&number| to_goal[number]).fold(f32::INFINITY, f32::min);
    let value = |&number: &usize| {
        let (mut sum, mut weights) = (0.0, 0.0);
        for &other in &near {
            let weight = (-0.5 * (apart(of(number), of(other)) / ACTION_WIDTH).powi(2)).exp();
            sum += weight * f64::from(min - to_goal[other]).exp();
            weights += weight;
        }
        sum / weights
    };
    let values = near.iter().map(|number| (*number, value(number)));
    values.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| of(number))
}
