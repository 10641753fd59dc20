//! Detects whether episodes end in similar states: demonstrations of a task do, exploration does
//! not.

use crate::{Dataset, dimension_summary::DimensionSummary};

/// The minimum number of episodes for a conclusion.
const MIN_EPISODES: usize = 8;
/// The approximate maximum number of states to inspect, evenly spaced in every episode.
const MAX_STATES: u64 = 1 << 20;
/// The variance of the last states of demonstrations is a smaller fraction of the variance of all
/// states: 0.14 for a robot arm, above 0.9 in mazes.
const MAX_VARIANCE_RATIO: f64 = 0.5;

/// Returns whether the episodes of a dataset end in similar states: the variance of the last states
/// is small relative to the variance of all states, in at least half of the columns that vary.
pub fn end_alike(data: &Dataset) -> bool {
    let width = data.spec().observation.width;
    if data.n_episodes() < MIN_EPISODES || width == 0 {
        return false;
    }
    let mut all = vec![DimensionSummary::default(); width];
    let mut ends = all.clone();
    let every = data.index().n_states().div_ceil(MAX_STATES).max(1) as usize;
    for number in 0..data.n_episodes() {
        let rows = data.episode(number).observations;
        for row in rows.chunks_exact(width).step_by(every) {
            all.iter_mut().zip(row).for_each(|(all, value)| all.add(*value));
        }
        let last = &rows[rows.len() - width..];
        ends.iter_mut().zip(last).for_each(|(ends, value)| ends.add(*value));
    }
    are_alike(&all, &ends)
}

/// As [`end_alike`], from summaries of all states and of the last states, column by column.
pub(crate) fn are_alike(all: &[DimensionSummary], ends: &[DimensionSummary]) -> bool {
    if ends.iter().all(|ends| ends.count < MIN_EPISODES as u64) {
        return false;
    }
    let varying = all.iter().zip(ends).filter(|(all, _)| all.standard_deviation() > 0.0);
    let mut ratios: Vec<f64> =
        varying.map(|(all, ends)| (ends.standard_deviation() / all.standard_deviation()).powi(2)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).is_some_and(|median| *median < MAX_VARIANCE_RATIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demonstrations_end_alike_and_exploration_does_not() {
        // From many starts to one end, and reversed.
        let starts = (0..20).map(|number| number as f32);
        let to_zero =
            |start: f32| (0..=10).map(|step| start * (1.0 - step as f32 / 10.0)).collect::<Vec<_>>();
        let reversed = |start: f32| to_zero(start).into_iter().rev().collect::<Vec<_>>();
        let data = |rows: &mut dyn Iterator<Item = Vec<f32>>| {
            Dataset::from_arrays(1, 0, rows.map(|rows| (rows, Vec::new()))).unwrap()
        };
        assert!(end_alike(&data(&mut starts.clone().map(to_zero))));
        assert!(!end_alike(&data(&mut starts.clone().map(reversed))));
        assert!(!end_alike(&data(&mut starts.take(3).map(to_zero))), "too few episodes");
    }
}
