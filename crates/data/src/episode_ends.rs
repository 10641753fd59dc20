//! Do episodes end alike? Demonstrations of a task do, exploration does not.

use crate::{Dataset, dimension_summary::DimensionSummary};

/// Fewer episodes tell nothing.
const MIN_EPISODES: usize = 8;
/// States that are looked at, evenly spread over every episode.
const MAX_STATES: u64 = 1 << 20;
/// Ends of demonstrations spread less than this part of all states: 0.14 for an arm, above 0.9 in mazes.
const ALIKE: f64 = 0.5;

/// Whether the episodes of a dataset end alike: the variance of last states, over that of all states, is small in at least half of
/// the columns that vary.
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

/// The same of summaries of all states and of the last ones, column by column.
pub(crate) fn are_alike(all: &[DimensionSummary], ends: &[DimensionSummary]) -> bool {
    if ends.iter().all(|ends| ends.count < MIN_EPISODES as u64) {
        return false;
    }
    let varying = all.iter().zip(ends).filter(|(all, _)| all.standard_deviation() > 0.0);
    let mut ratios: Vec<f64> =
        varying.map(|(all, ends)| (ends.standard_deviation() / all.standard_deviation()).powi(2)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).is_some_and(|median| *median < ALIKE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demonstrations_end_alike_and_exploration_does_not() {
        // From everywhere to one place, and back.
        let starts = (0..20).map(|number| number as f32);
        let to_zero =
            |start: f32| (0..=10).map(|step| start * (1.0 - step as f32 / 10.0)).collect::<Vec<_>>();
        let reversed = |start: f32| to_zero(start).into_iter().rev().collect::<Vec<_>>();
        let data = |rows: &mut dyn Iterator<Item = Vec<f32>>| {
            Dataset::from_arrays(1, 0, rows.map(|rows| (rows, Vec::new()))).unwrap()
        };
        assert!(end_alike(&data(&mut starts.clone().map(to_zero))));
        assert!(!end_alike(&data(&mut starts.clone().map(reversed))));
        assert!(!end_alike(&data(&mut starts.take(3).map(to_zero))), "too few to tell");
    }
}
