//! Landmarks that cover the data, regardless of how unevenly states are visited.

use super::rows::apart;
use rayon::prelude::*;

/// The number of rows per parallel task; with fewer, the overhead of a task dominates.
const ROWS_PER_TASK: usize = 4096;

/// Greedy k-center: chooses at most `k` of the rows, `[n, width]`, such that every row is near one
/// of them. Starts with the first row, and continues with the row that is farthest from all chosen
/// rows. Returns the indices of the chosen rows, each with the cover radius after it was added; a
/// prefix is the solution for a smaller `k`.
pub(crate) fn k_center(rows: &[f32], width: usize, k: usize) -> Vec<(usize, f32)> {
    let row = |number: usize| &rows[number * width..][..width];
    let mut to_nearest = vec![f32::INFINITY; rows.len() / width];
    let (mut chosen, mut newest) = (Vec::with_capacity(k), 0);
    loop {
        let center = row(newest);
        let tasks = to_nearest.par_chunks_mut(ROWS_PER_TASK).zip(rows.par_chunks(ROWS_PER_TASK * width));
        let farthest = tasks.enumerate().map(|(task, (to_nearest, rows))| {
            let mut farthest = (0.0, usize::MAX);
            for (number, (nearest, row)) in to_nearest.iter_mut().zip(rows.chunks_exact(width)).enumerate() {
                *nearest = nearest.min(apart(row, center));
                if *nearest > farthest.0 {
                    farthest = (*nearest, task * ROWS_PER_TASK + number);
                }
            }
            farthest
        });
        // Ties are broken by index, so that results do not depend on the thread count.
        let farther =
            |a: (f32, usize), b: (f32, usize)| if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a };
        let (radius, next) = farthest.reduce(|| (0.0, usize::MAX), farther);
        chosen.push((newest, radius));
        if radius == 0.0 || chosen.len() == k {
            return chosen;
        }
        newest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_cover_a_crowded_line() {
        // A thousand rows near 0, one at 10, one at 5.
        let mut rows: Vec<f32> = (0..1000).map(|i| i as f32 * 1e-4).collect();
        rows.extend([10.0, 5.0]);
        assert_eq!(k_center(&rows, 1, 3), [(0, 10.0), (1000, 5.0), (1001, 0.0999)]);
        // Two recurring states need no third landmark.
        assert_eq!(k_center(&[1.0, 2.0, 1.0, 2.0], 1, 4), [(0, 1.0), (1, 0.0)]);
    }
}
