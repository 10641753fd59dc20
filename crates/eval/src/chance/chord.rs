//! The straight line between two states: whether data cover it, and what it risks.

use crate::refined::{nearest::Points, rows::apart};

/// A landmark with a larger hazard per row is not passed on a chord.
const MAX_HAZARD: f64 = 0.02;

/// Landmarks and their hazards.
pub(crate) struct Chord<'a> {
    pub points: &'a Points,
    pub hazards: &'a [f64],
    /// The cover radius, in steps.
    pub radius: f32,
}

impl Chord<'_> {
    /// Returns whether every state of the chord is within the radius of a landmark, and none is
    /// near a hazard.
    pub fn is_safe(&self, from: &[f32], to: &[f32]) -> bool {
        let is_safe = |(landmark, apart): (u32, f32)| {
            apart <= self.radius && self.hazards[landmark as usize] < MAX_HAZARD
        };
        self.points.nearest(&states(from, to)).into_iter().all(is_safe)
    }

    /// Returns whether every state of the chord is within the radius of a landmark.
    pub fn is_covered(&self, from: &[f32], to: &[f32]) -> bool {
        self.points.nearest(&states(from, to)).into_iter().all(|(_, apart)| apart <= self.radius)
    }

    /// Returns the probability that a jump intervenes on the chord.
    pub fn hazard(&self, from: &[f32], to: &[f32]) -> f64 {
        let near = self.points.nearest(&[from, &states(from, to)].concat()).into_iter();
        1.0 - near.map(|(landmark, _)| 1.0 - self.hazards[landmark as usize]).product::<f64>()
    }
}

/// Returns states on the chord one step apart, with the last but without the first.
fn states(from: &[f32], to: &[f32]) -> Vec<f32> {
    let n = (apart(from, to).ceil() as usize).max(1);
    let at = |step: usize| {
        let share = step as f32 / n as f32;
        from.iter().zip(to).map(move |(from, to)| from + share * (to - from))
    };
    (1..=n).flat_map(at).collect()
}
