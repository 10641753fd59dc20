//! Nearest-neighbor search by exhaustive comparison.

use pulp::Arch;
use rayon::prelude::*;

/// The number of points compared at once.
const LANES: usize = 16;
/// The number of rows per parallel task.
const ROWS_PER_TASK: usize = 256;

/// Points in groups of [`LANES`], coordinate by coordinate.
pub(crate) struct Points {
    n: usize,
    width: usize,
    /// `[groups, width, LANES]`; the last group is padded with infinity.
    groups: Vec<f32>,
}

impl Points {
    /// Creates the index of `[n, width]` points.
    pub fn new(points: &[f32], width: usize) -> Self {
        let n = points.len() / width;
        let mut groups = vec![f32::INFINITY; n.div_ceil(LANES) * width * LANES];
        for (point, values) in points.chunks_exact(width).enumerate() {
            for (coordinate, &value) in values.iter().enumerate() {
                groups[(point / LANES * width + coordinate) * LANES + point % LANES] = value;
            }
        }
        Self { n, width, groups }
    }

    /// Returns the nearest point to each row of `[rows, width]`, and its distance. Ties are broken
    /// by index.
    pub fn nearest(&self, rows: &[f32]) -> Vec<(u32, f32)> {
        let tasks = rows.par_chunks(ROWS_PER_TASK * self.width);
        tasks
            .flat_map_iter(|rows| {
                Arch::new().dispatch(|| {
                    rows.chunks_exact(self.width).map(|row| self.nearest_to(row)).collect::<Vec<_>>()
                })
            })
            .collect()
    }

    /// Returns the nearest point to one row, and its distance.
    pub fn nearest_one(&self, row: &[f32]) -> (u32, f32) {
        Arch::new().dispatch(|| self.nearest_to(row))
    }

    /// Returns the `k` nearest points to a row, nearest first.
    pub fn nearest_few(&self, row: &[f32], k: usize) -> Vec<(u32, f32)> {
        let mut squares = Vec::with_capacity(self.n.next_multiple_of(LANES));
        Arch::new().dispatch(|| {
            for group in self.groups.chunks_exact(self.width * LANES) {
                squares.extend(squares_to(row, group));
            }
        });
        let mut found: Vec<(u32, f32)> = Vec::with_capacity(k + 1);
        for (point, &square) in squares[..self.n].iter().enumerate() {
            if found.len() == k && found[k - 1].1 <= square {
                continue;
            }
            let place = found.partition_point(|(_, other)| *other <= square);
            found.insert(place, (point as u32, square));
            found.truncate(k);
        }
        found.iter_mut().for_each(|(_, square)| *square = square.sqrt());
        found
    }

    #[inline(always)]
    fn nearest_to(&self, row: &[f32]) -> (u32, f32) {
        let (mut min, mut group_of_min) = ([f32::INFINITY; LANES], [0u32; LANES]);
        for (number, group) in self.groups.chunks_exact(self.width * LANES).enumerate() {
            let squares = squares_to(row, group);
            for lane in 0..LANES {
                let is_nearer = squares[lane] < min[lane];
                min[lane] = if is_nearer { squares[lane] } else { min[lane] };
                group_of_min[lane] = if is_nearer { number as u32 } else { group_of_min[lane] };
            }
        }
        let point = |lane: usize| group_of_min[lane] * LANES as u32 + lane as u32;
        let best = (0..LANES)
            .min_by(|&a, &b| min[a].total_cmp(&min[b]).then(point(a).cmp(&point(b))))
            .expect("there are lanes");
        (point(best), min[best].sqrt())
    }
}

/// Returns the squared distances from a row to the points of a group, `[width, LANES]`.
#[inline(always)]
fn squares_to(row: &[f32], group: &[f32]) -> [f32; LANES] {
    let mut squares = [0f32; LANES];
    for (value, points) in row.iter().zip(group.chunks_exact(LANES)) {
        for lane in 0..LANES {
            let apart = value - points[lane];
            squares[lane] += apart * apart;
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refined::rows::apart;
    use isochrone_core::rng;

    #[test]
    fn the_nearest_points_agree_with_sorting_all() {
        let mut random = rng::stream(1, 0);
        let mut draw = |n: usize| (0..n).map(|_| rng::unit_f64(&mut random) as f32).collect::<Vec<_>>();
        let (points, rows) = (draw(3 * 101), draw(3 * 50));
        let index = Points::new(&points, 3);
        for (row, found) in rows.chunks(3).zip(index.nearest(&rows)) {
            let mut all: Vec<(u32, f32)> =
                points.chunks(3).enumerate().map(|(i, point)| (i as u32, apart(row, point))).collect();
            all.sort_by(|a, b| a.1.total_cmp(&b.1));
            assert_eq!(found, all[0]);
            assert_eq!(index.nearest_few(row, 5), all[..5]);
        }
    }
}
