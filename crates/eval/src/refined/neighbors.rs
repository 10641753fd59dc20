//! The nearest landmarks of consecutive rows, which are near each other.

use super::nearest::Points;
use rayon::prelude::*;

/// The number of landmarks that are listed near each landmark.
const LISTED: usize = 64;
/// The number of rows per parallel task.
const ROWS_PER_TASK: usize = 4096;
/// Covers the rounding of distances.
const MARGIN: f32 = 1.0001;

/// Landmarks, each with those near it.
///
/// The landmark of a row is searched among those near the landmark `a` of the row before. If the
/// row is at a distance `r` from `a`, its nearest landmark is within `2 r` of `a`, by the triangle
/// inequality. The result is bit-identical to that of comparing with all landmarks, which is done
/// where the list is too short.
pub(crate) struct Neighbors {
    width: usize,
    /// `[n, width]`
    landmarks: Vec<f32>,
    points: Points,
    /// For every landmark, the landmarks near it and their distances, nearest first: `[n, listed]`
    near: Vec<(u32, f32)>,
    listed: usize,
}

impl Neighbors {
    /// Creates the index of `[n, width]` landmarks.
    pub fn new(landmarks: Vec<f32>, width: usize) -> Self {
        let (points, n) = (Points::new(&landmarks, width), landmarks.len() / width);
        let listed = n.min(LISTED);
        let near = landmarks.par_chunks_exact(width).flat_map_iter(|row| points.nearest_few(row, listed));
        Self { near: near.collect(), width, landmarks, points, listed }
    }

    /// Returns the nearest landmark of each row of `[rows, width]`, and its distance. Ties are
    /// broken by index.
    pub fn nearest(&self, rows: &[f32]) -> Vec<(u32, f32)> {
        let task = |rows: &[f32]| {
            let mut before = None;
            let nearest = |row: &[f32]| {
                let found = before.and_then(|landmark| self.near(row, landmark));
                let found = found.unwrap_or_else(|| self.points.nearest_one(row));
                before = Some(found.0);
                found
            };
            rows.chunks_exact(self.width).map(nearest).collect::<Vec<_>>()
        };
        rows.par_chunks(ROWS_PER_TASK * self.width).flat_map_iter(task).collect()
    }

    /// Searches near a landmark; `None` if the list does not reach far enough.
    fn near(&self, row: &[f32], landmark: u32) -> Option<(u32, f32)> {
        let mut best = (self.square(row, landmark), landmark);
        let reach = 2.0 * MARGIN * best.0.sqrt();
        for &(other, apart) in &self.near[landmark as usize * self.listed..][..self.listed] {
            if apart > reach {
                return Some((best.1, best.0.sqrt()));
            }
            let square = self.square(row, other);
            if square < best.0 || (square == best.0 && other < best.1) {
                best = (square, other);
            }
        }
        let has_all = self.listed * self.width == self.landmarks.len();
        (has_all && best.0.is_finite()).then(|| (best.1, best.0.sqrt()))
    }

    /// The squared distance, with the operations of `Points` in the same order.
    #[inline]
    fn square(&self, row: &[f32], landmark: u32) -> f32 {
        let landmark = &self.landmarks[landmark as usize * self.width..][..self.width];
        row.iter().zip(landmark).fold(0.0, |square, (a, b)| square + (a - b) * (a - b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::rng;

    /// The landmarks of walks, of jumps, of values that are not finite, and of ties.
    #[test]
    fn the_nearest_landmark_is_that_of_comparing_with_all() {
        let mut random = rng::stream(1, 0);
        for n in [1, 3, 40, 64, 65, 700] {
            let landmarks: Vec<f32> =
                (0..2 * n).map(|_| (10.0 * rng::unit_f64(&mut random)) as f32).collect();
            // Integers repeat, so that there are equal landmarks and equal distances.
            let grid: Vec<f32> = landmarks.iter().map(|x| x.round()).collect();
            for landmarks in [landmarks, grid] {
                let (mut place, mut rows) = ([5.0f32; 2], Vec::new());
                for step in 0..9000 {
                    let length = if step % 500 == 0 { 10.0 } else { 0.3 };
                    let mut draw = || length * (rng::unit_f64(&mut random) as f32 - 0.5);
                    place = [place[0] + draw(), place[1] + draw()].map(|x| x.clamp(-5.0, 15.0));
                    rows.extend(if step % 3 == 0 { place.map(f32::round) } else { place });
                }
                (rows[777], rows[1778]) = (f32::NAN, f32::INFINITY);
                let found = Neighbors::new(landmarks.clone(), 2).nearest(&rows);
                let expected = Points::new(&landmarks, 2).nearest(&rows);
                let bits = |(landmark, distance): &(u32, f32)| (*landmark, distance.to_bits());
                assert!(found.iter().map(bits).eq(expected.iter().map(bits)), "{n} landmarks");
            }
        }
    }
}
