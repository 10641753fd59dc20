//! Sets of goals.

use super::{nearest::Points, place::Places};

/// A set of goal states, such as all states that share some columns, or all successes: reaching any
/// of them counts. Created by [`RefinedDistance::goal_set`](super::RefinedDistance::goal_set) for
/// that distance.
pub struct GoalSet {
    pub(super) places: Places,
    /// The states, projected.
    pub(super) states: Points,
    /// The landmarks from which a state of the set can be reached by a confirmed hop, and the
    /// shortest such hop.
    pub(super) ends: Vec<(u32, f32)>,
}

impl GoalSet {
    /// Creates a set from states and all confirmed hops to them from landmarks.
    pub(super) fn new(places: Places, mut ends: Vec<(u32, f32)>) -> Self {
        ends.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        ends.dedup_by_key(|(landmark, _)| *landmark);
        Self { states: Points::new(&places.projected, places.width), places, ends }
    }
}
