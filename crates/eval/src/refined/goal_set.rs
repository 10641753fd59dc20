//! Goals of which any will do.

use super::{nearest::Points, place::Place};

/// States of which any is the goal: all that share a slice of columns, all that were a success, a file of them.
/// Made by [`RefinedDistance::goal_set`](super::RefinedDistance::goal_set) for that distance.
pub struct GoalSet {
    pub(super) places: Vec<Place>,
    /// The states, projected.
    pub(super) states: Points,
    /// Landmarks from which some of the states can be reached by a confirmed hop, and the shortest of these hops.
    pub(super) ends: Vec<(u32, f32)>,
}

impl GoalSet {
    /// From states of so many projected columns, and all confirmed hops to them from landmarks.
    pub(super) fn new(places: Vec<Place>, width: usize, mut ends: Vec<(u32, f32)>) -> Self {
        ends.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        ends.dedup_by_key(|(landmark, _)| *landmark);
        let projected: Vec<f32> = places.iter().flat_map(|place| &place.projected).copied().collect();
        Self { states: Points::new(&projected, width), places, ends }
    }
}
