//! Holes among starts: where to record the next demonstrations from.
//!
//! A start is suggested in the middle of the largest empty ball inside the recorded starts of a
//! task, in the dimensions that vary among starts; then in the middle of the next, and so on.

use super::Demos;
use isochrone_core::{rng, statistics::median};

/// A dimension varies among starts if its standard deviation there is this share of that of the
/// data.
const MIN_VARIATION: f64 = 0.05;
/// The number of random points among which the middle of the largest empty ball is searched.
const CANDIDATES: usize = 20_000;
/// Fewer starts enclose nothing.
const MIN_STARTS: usize = 4;
/// Starts with a dimension that is farther from the median are outliers.
const MAX_DEVIATIONS: f64 = 4.0;
/// The standard deviation of a normal distribution in median absolute deviations.
const DEVIATION: f64 = 1.4826;
/// More dimensions than this cannot be filled by demonstrations.
const MAX_DIMENSIONS: usize = 8;

/// The starts to record for a task.
#[derive(Debug, Clone, PartialEq)]
pub struct StartRegion {
    /// The number of the task.
    pub task: u32,
    /// The dimensions that vary among its starts.
    pub dimensions: Vec<usize>,
    /// The suggested starts, the most useful first.
    pub starts: Vec<Start>,
}

/// A suggested start.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The values of the dimensions that vary.
    pub values: Vec<f64>,
    /// The distance to the nearest recorded start, in standard deviations of the recorded starts.
    pub radius: f64,
}

impl StartRegion {
    /// Suggests `n` starts for a task; `None` if its starts do not vary or are too few.
    pub(super) fn of(
        demos: &Demos<'_>,
        is_usable: &dyn Fn(usize) -> bool,
        task: u32,
        n: usize,
    ) -> Option<Self> {
        let width = demos.width();
        let is_start = |episode: &usize| demos.labels.task[*episode] == task && is_usable(*episode);
        let episodes = (0..demos.data.n_episodes()).filter(is_start);
        let first: Vec<&[f32]> = episodes.map(|episode| &demos.states(episode)[..width]).collect();
        if first.len() < MIN_STARTS {
            return None;
        }
        let spreads: Vec<(f64, f64)> = (0..width).map(|column| spread(&first, column)).collect();
        let deviations: Vec<f64> = spreads.iter().map(|spread| spread.1).collect();
        let of_data = &demos.reference(0).deviations;
        let mut dimensions: Vec<usize> =
            (0..width).filter(|column| deviations[*column] > MIN_VARIATION * of_data[*column]).collect();
        dimensions.sort_by(|a, b| {
            let share = |column: usize| deviations[column] / of_data[column];
            share(*b).total_cmp(&share(*a))
        });
        dimensions.truncate(MAX_DIMENSIONS);
        dimensions.sort_unstable();
        if dimensions.is_empty() {
            return None;
        }
        // A start far from all others would surround itself with emptiness.
        let is_among = |row: &&&[f32]| {
            let apart = |column: &usize| (f64::from(row[*column]) - spreads[*column].0).abs();
            dimensions.iter().all(|column| apart(column) <= MAX_DEVIATIONS * deviations[*column])
        };
        let scaled = |row: &&[f32]| -> Vec<f64> {
            dimensions.iter().map(|column| f64::from(row[*column]) / deviations[*column]).collect()
        };
        let mut points: Vec<Vec<f64>> = first.iter().filter(is_among).map(scaled).collect();
        if points.len() < MIN_STARTS {
            return None;
        }
        let candidates = inside(&points, u64::from(task));
        let mut starts = Vec::new();
        for _ in 0..n {
            let Some((middle, radius)) = emptiest(&candidates, &points) else { break };
            let values = middle.iter().zip(&dimensions).map(|(value, column)| value * deviations[*column]);
            starts.push(Start { values: values.collect(), radius });
            points.push(middle);
        }
        Some(Self { task, dimensions, starts })
    }
}

/// Returns the median of a column, and the standard deviation that outliers do not change.
fn spread(rows: &[&[f32]], column: usize) -> (f64, f64) {
    let middle = median(rows.iter().map(|row| f64::from(row[column])).collect());
    let apart = median(rows.iter().map(|row| (f64::from(row[column]) - middle).abs()).collect());
    (middle, DEVIATION * apart)
}

/// Returns random points inside the hull of `points`: means of a few of them with random weights.
fn inside(points: &[Vec<f64>], seed: u64) -> Vec<Vec<f64>> {
    let mut random = rng::stream(seed, 11);
    let dimensions = points[0].len();
    let mix = |_| {
        let mut sum = vec![0.0; dimensions];
        let mut total = 0.0;
        for _ in 0..=dimensions {
            let point = &points[rng::below(&mut random, points.len())];
            let weight = -(1.0 - rng::unit_f64(&mut random)).ln();
            sum.iter_mut().zip(point).for_each(|(sum, value)| *sum += weight * value);
            total += weight;
        }
        sum.iter_mut().for_each(|sum| *sum /= total);
        sum
    };
    (0..CANDIDATES).map(mix).collect()
}

/// Returns the candidate that is farthest from all points, and the distance to the nearest.
fn emptiest(candidates: &[Vec<f64>], points: &[Vec<f64>]) -> Option<(Vec<f64>, f64)> {
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let radius = |candidate: &Vec<f64>| {
        points.iter().map(|point| apart(candidate, point)).fold(f64::INFINITY, f64::min)
    };
    let measured = candidates.iter().map(|candidate| (candidate, radius(candidate)));
    let (middle, radius) = measured.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (radius > 0.0).then(|| (middle.clone(), radius))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hole_in_the_middle_is_found_first() {
        // A square of 11 x 11 points with a hole of radius 3 at (6, 5).
        let grid = (0..121).map(|n| vec![f64::from(n % 11), f64::from(n / 11)]);
        let is_outside = |point: &Vec<f64>| (point[0] - 6.0).powi(2) + (point[1] - 5.0).powi(2) > 9.0;
        let points: Vec<Vec<f64>> = grid.filter(is_outside).collect();
        let (middle, radius) = emptiest(&inside(&points, 0), &points).unwrap();
        assert!((middle[0] - 6.0).abs() < 0.5 && (middle[1] - 5.0).abs() < 0.5, "{middle:?}");
        assert!(radius > 2.5, "{radius}");
    }
}
