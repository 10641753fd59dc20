//! Jumps: steps that are much longer than the steps around them.
//!
//! A step is compared with its neighborhood, since fast motion is no jump: a gripper that closes
//! within a few steps is at rest most of the time.

use crate::DatasetSummary;

/// The number of steps before and after a step that it is compared with.
const AROUND: usize = 6;
/// The longest steps of a neighborhood that may be jumps themselves: a wrong reading is a step away
/// and a step back.
const MAX_JUMPS_AROUND: usize = 2;
/// A step is a jump if it is longer than this many times the longest other step around it plus half
/// a typical step...
const MIN_RATIO: f32 = 4.0;
/// ...and changes a dimension by more than this share of its range.
const MIN_RANGE_SHARE: f32 = 0.05;
/// A dimension at rest in this share of all steps is not compared.
const MAX_REST_SHARE: f64 = 0.9;
/// The change of a dimension is measured in that which this share of all steps does not exceed: a
/// fast step, which jumps do not affect as they do a standard deviation...
const FAST_SHARE: f64 = 0.99;
/// ...and which is not one of the longest, as it would be in a small dataset.
const MAX_LONGEST: f64 = 3.0;

/// Finds jumps in episodes. A step has the length of its change in fast steps.
pub(super) struct JumpRule {
    /// For each dimension: the inverse of a fast step, or 0 if it is not compared.
    scales: Vec<f32>,
    /// For each dimension: the change that a jump exceeds.
    min_changes: Vec<f32>,
    typical: f32,
}

/// A step that is a jump.
#[derive(Debug, PartialEq)]
pub(super) struct Jump {
    /// The row before the step.
    pub row: usize,
    /// The dimension that changes most, in fast steps.
    pub dimension: usize,
}

impl JumpRule {
    pub fn new(summary: &DatasetSummary) -> Self {
        let (mut scales, mut min_changes, mut squares) = (Vec::new(), Vec::new(), 0.0);
        let n_steps = summary.n_transitions().max(1) as f64;
        let fast_share = FAST_SHARE.min(1.0 - MAX_LONGEST / n_steps).max(MAX_REST_SHARE);
        for (steps, values) in summary.step_sizes.iter().zip(&summary.observations) {
            let moving = steps.quantile(MAX_REST_SHARE).zip(steps.quantile(fast_share));
            // If most steps are at rest, the typical step is one of the others.
            let typical = moving.map_or(0.0, |(large, fast)| steps.quantile(0.5).unwrap_or(large) / fast);
            squares += typical * typical;
            scales.push(moving.map_or(0.0, |(_, fast)| (1.0 / fast) as f32));
            min_changes.push(MIN_RANGE_SHARE * (values.max - values.min));
        }
        Self { scales, min_changes, typical: squares.sqrt() as f32 }
    }

    /// Returns whether a dimension is at rest in too many steps to be compared.
    pub fn leaves_out(&self, dimension: usize) -> bool {
        self.scales[dimension] == 0.0
    }

    /// Returns the jumps of an episode, `[T + 1, width]`, in their order.
    pub fn find(&self, observations: &[f32]) -> Vec<Jump> {
        let width = self.scales.len();
        let rows: Vec<&[f32]> = observations.chunks_exact(width).collect();
        let change = |row: usize, at: usize| (rows[row + 1][at] - rows[row][at]).abs();
        let scaled = |row: usize, at: usize| change(row, at) * self.scales[at];
        let n_steps = rows.len().saturating_sub(1);
        let length = |row: usize| (0..width).map(|at| scaled(row, at).powi(2)).sum::<f32>().sqrt();
        let lengths: Vec<f32> = (0..n_steps).map(length).collect();
        let mut around = Vec::with_capacity(2 * AROUND + 1);
        let mut jumps = Vec::new();
        for (row, &length) in lengths.iter().enumerate() {
            around.clear();
            around.extend_from_slice(&lengths[row.saturating_sub(AROUND)..(row + AROUND + 1).min(n_steps)]);
            let rank = around.len().saturating_sub(1).min(MAX_JUMPS_AROUND);
            let (_, &mut other, _) = around.select_nth_unstable_by(rank, |a, b| b.total_cmp(a));
            if length > MIN_RATIO * (other + 0.5 * self.typical)
                && (0..width).any(|at| !self.leaves_out(at) && change(row, at) > self.min_changes[at])
            {
                let largest = (0..width).max_by(|&a, &b| scaled(row, a).total_cmp(&scaled(row, b)));
                jumps.extend(largest.map(|dimension| Jump { row, dimension }));
            }
        }
        jumps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;

    /// An arm that moves evenly, and a gripper that closes within some steps in the middle.
    fn episode(gripper_steps: usize) -> Vec<f32> {
        let closed = |row: usize| (row.saturating_sub(40) as f32 / gripper_steps as f32).min(1.0);
        (0..80).flat_map(|row| [0.05 * row as f32, closed(row) + 0.002 * (row % 3) as f32]).collect()
    }

    fn jumps(last: Vec<f32>) -> Vec<Jump> {
        let episodes = (0..20).map(|_| episode(4)).chain([last.clone()]).map(|rows| (rows, Vec::new()));
        let mut summary = DatasetSummary::default();
        Dataset::from_arrays(2, 0, episodes).unwrap().send(&mut summary).unwrap();
        JumpRule::new(&summary).find(&last)
    }

    #[test]
    fn fast_motion_is_no_jump() {
        assert_eq!(jumps(episode(4)), []);
    }

    #[test]
    fn a_single_step_far_beyond_its_neighborhood_is_a_jump() {
        let mut reset = episode(4);
        reset[2 * 20..].iter_mut().step_by(2).for_each(|arm| *arm += 3.0);
        assert_eq!(jumps(reset), [Jump { row: 19, dimension: 0 }]);
    }

    #[test]
    fn a_wrong_reading_is_two_jumps() {
        let mut wrong = episode(4);
        wrong[2 * 60] += 3.0;
        assert_eq!(jumps(wrong), [59, 60].map(|row| Jump { row, dimension: 0 }));
    }
}
