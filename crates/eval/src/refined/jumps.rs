//! Involuntary jumps: steps far longer than motion explains, such as teleports, resets within an
//! episode or relabeled frames. No action causes them on purpose, so they do not become edges, and
//! are excluded from the fit of the hop metric, whose weights they would change by a factor of a
//! thousand.

use crate::quantile::at_quantile;
use isochrone_data::Dataset;

/// A step is a jump if any column changes by more than this factor times the [`QUANTILE`] of its
/// changes.
const FACTOR: f32 = 5.0;
/// A higher quantile could be affected by the jumps themselves, which are 0.1 % of all steps in a
/// teleport maze.
const QUANTILE: f64 = 0.99;
/// The number of steps sampled to estimate the quantile.
const SAMPLED_STEPS: u64 = 200_000;

/// Returns, for every row, whether the step that leads to it is a jump.
pub(crate) fn find(data: &Dataset, limits: &[f32]) -> Vec<bool> {
    let mut jumps = Vec::with_capacity(data.index().n_states() as usize);
    for episode in 0..data.n_episodes() {
        let rows = || data.episode(episode).observations.chunks_exact(limits.len());
        jumps.push(false);
        jumps.extend(rows().zip(rows().skip(1)).map(|(from, to)| is_jump(from, to, limits)));
    }
    jumps
}

/// Returns whether the step from one state to the next is a jump.
#[inline]
pub(crate) fn is_jump(from: &[f32], to: &[f32], limits: &[f32]) -> bool {
    (0..limits.len()).any(|column| limits[column] > 0.0 && (to[column] - from[column]).abs() > limits[column])
}

/// Returns, for every column, the largest change that is not a jump; 0 for columns that seldom
/// change, which are ignored.
pub(crate) fn largest_steps(data: &Dataset) -> Vec<f32> {
    let (index, width) = (data.index(), data.spec().observation.width);
    let total = index.n_transitions();
    let sampled = total.min(SAMPLED_STEPS);
    let mut steps = vec![Vec::with_capacity(sampled as usize); width];
    for number in 0..sampled {
        let (episode, row) = index.row_of_transition(number * total / sampled);
        let rows = &data.episode(episode).observations[row * width..][..2 * width];
        for column in 0..width {
            steps[column].push((rows[width + column] - rows[column]).abs());
        }
    }
    let limit = |mut steps: Vec<f32>| {
        at_quantile(&mut steps, QUANTILE, f32::total_cmp).expect("there are transitions") * FACTOR
    };
    steps.into_iter().map(limit).collect()
}
