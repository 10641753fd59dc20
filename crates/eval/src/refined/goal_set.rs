//! Goals of which any will do.

use super::nearest::Points;

/// States of which any is the goal: all that share a slice of columns, all that were a success, a file of them.
/// Made by [`RefinedDistance::goal_set`](super::RefinedDistance::goal_set) for that distance.
pub struct GoalSet {
    /// The states, projected.
    pub(crate) states: Points,
    /// Landmarks that have some of the states, and the shortest hop to one of them.
    pub(crate) ends: Vec<(u32, f32)>,
}

impl GoalSet {
    /// From projected states, `[n, width]`, each with its nearest landmark and the hop to it.
    pub(crate) fn new(projected: &[f32], width: usize, mut near: Vec<(u32, f32)>) -> Self {
        near.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        near.dedup_by_key(|(landmark, _)| *landmark);
        Self { states: Points::new(projected, width), ends: near }
    }
}
