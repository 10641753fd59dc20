//! The speed limit: a lower bound on travel time from the largest recorded displacements.

use crate::quantile::at_quantile;
use isochrone_core::rng;
use isochrone_data::Dataset;

/// Offsets, in steps, at which displacements are measured.
const OFFSETS: [usize; 5] = [1, 2, 4, 8, 16];
/// The number of pairs sampled at each offset.
const PAIRS: usize = 20_000;
/// The quantile of displacements that counts as the largest; larger ones may be sensor glitches.
const QUANTILE: f64 = 0.999;

/// The largest recorded change per step of every column, over several offsets. It gives a lower
/// bound on travel time that needs no oracle.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedLimit {
    /// The largest change per step of every column.
    fastest: Vec<f32>,
}

impl SpeedLimit {
    /// Measures the displacements of a dataset.
    pub fn of(data: &Dataset, seed: u64) -> Self {
        let (index, width) = (data.index(), data.spec().observation.width);
        let mut random = rng::stream(seed, 3);
        let mut fastest = vec![0f32; width];
        for offset in OFFSETS {
            let mut changes = vec![Vec::new(); width];
            for _ in 0..PAIRS {
                let (episode, row) =
                    index.row_of_transition(rng::below(&mut random, index.n_transitions() as usize) as u64);
                if row + offset <= index.steps(episode) {
                    let rows = &data.episode(episode).observations[row * width..];
                    for (column, changes) in changes.iter_mut().enumerate() {
                        changes.push((rows[offset * width + column] - rows[column]).abs());
                    }
                }
            }
            if changes[0].is_empty() {
                break;
            }
            for (fastest, changes) in fastest.iter_mut().zip(changes) {
                *fastest = fastest.max(quantile(changes) / offset as f32);
            }
        }
        Self { fastest }
    }

    /// Returns the minimum number of steps from each row of `from` to the same row of `to`,
    /// `[n, width]` twice.
    pub fn fewest_steps(&self, from: &[f32], to: &[f32]) -> Vec<f64> {
        let width = self.fastest.len();
        let steps =
            |(moved, fastest): (f32, &f32)| if *fastest > 0.0 { f64::from(moved / fastest) } else { 0.0 };
        let pairs = from.chunks_exact(width).zip(to.chunks_exact(width));
        pairs
            .map(|(from, to)| {
                let moved = from.iter().zip(to).map(|(from, to)| (to - from).abs());
                moved.zip(&self.fastest).map(steps).fold(0.0, f64::max)
            })
            .collect()
    }
}

fn quantile(mut values: Vec<f32>) -> f32 {
    at_quantile(&mut values, QUANTILE, f32::total_cmp).expect("there are values")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_tight_at_constant_speed() {
        let episode: Vec<f32> = (0..200).map(|step| 0.5 * step as f32).collect();
        let data = Dataset::from_arrays(1, 0, [(episode, Vec::new())]).unwrap();
        let limit = SpeedLimit::of(&data, 0);
        for (moved, steps) in [(0.0, 0.0), (0.5, 1.0), (1.5, 3.0), (50.0, 100.0)] {
            assert!((limit.fewest_steps(&[10.0], &[10.0 + moved])[0] - steps).abs() < 1e-3, "{moved}");
        }
    }
}
