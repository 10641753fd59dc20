//! Do episodes end alike? Demonstrations of a task do, exploration does not.

use crate::Dataset;

/// Fewer episodes tell nothing.
const MIN_EPISODES: usize = 8;
/// Ends of demonstrations spread less than this part of all states: 0.14 for an arm, above 0.9 in mazes.
const ALIKE: f64 = 0.5;

/// Whether the episodes of a dataset end alike: the variance of last states, over that of all states, is small in at least half of
/// the columns that vary.
pub fn end_alike(data: &Dataset) -> bool {
    let width = data.spec().observation.width;
    if data.n_episodes() < MIN_EPISODES || width == 0 {
        return false;
    }
    let (mut all, mut ends) = (Moments::new(width), Moments::new(width));
    for number in 0..data.n_episodes() {
        let rows = data.episode(number).observations;
        rows.chunks_exact(width).for_each(|row| all.add(row));
        ends.add(&rows[rows.len() - width..]);
    }
    let ratios = all.variances().zip(ends.variances()).filter(|(all, _)| *all > 0.0);
    let mut ratios: Vec<f64> = ratios.map(|(all, ends)| ends / all).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).is_some_and(|median| *median < ALIKE)
}

/// Sums over rows, column by column, by Welford's method.
struct Moments {
    n: f64,
    /// Mean, and sum of squared distances from it.
    columns: Vec<(f64, f64)>,
}

impl Moments {
    fn new(width: usize) -> Self {
        Self { n: 0.0, columns: vec![(0.0, 0.0); width] }
    }

    fn add(&mut self, row: &[f32]) {
        self.n += 1.0;
        for ((mean, spread), value) in self.columns.iter_mut().zip(row) {
            let before = f64::from(*value) - *mean;
            *mean += before / self.n;
            *spread += before * (f64::from(*value) - *mean);
        }
    }

    fn variances(&self) -> impl Iterator<Item = f64> {
        self.columns.iter().map(|(_, spread)| spread / self.n)
    }
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
