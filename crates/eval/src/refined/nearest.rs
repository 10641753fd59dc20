//! Exact nearest-neighbor search.

use super::leaves::{LANES, Leaves, NO_POINT, is_any_within};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// The number of rows per parallel task.
const ROWS_PER_TASK: usize = 1024;

/// Points, searched by leaves. Only leaves whose boxes are near enough are compared, and the
/// results are bit-identical to those of comparing all points.
pub(crate) struct Points {
    n: usize,
    width: usize,
    leaves: Leaves,
}

/// The memory of a search, which is reused for the next row.
#[derive(Default)]
struct Search {
    /// Lower bounds on the squared distances to leaves, `[groups, LANES]`
    bounds: Vec<[f32; LANES]>,
    /// Squared distances and points, nearest first; ties are broken by number.
    found: Vec<(f32, u32)>,
}

impl Points {
    /// Creates the index of `[n, width]` points.
    pub fn new(points: &[f32], width: usize) -> Self {
        Self { n: points.len() / width, width, leaves: Leaves::new(points, width) }
    }

    /// Returns the nearest point to each row of `[rows, width]`, and its distance; point 0 at an
    /// infinite distance if all distances are infinite or not numbers. Ties are broken by index.
    pub fn nearest(&self, rows: &[f32]) -> Vec<(u32, f32)> {
        let task = |rows: &[f32]| {
            let mut nearest = Vec::with_capacity(ROWS_PER_TASK);
            self.nearest_few_of(rows, 1, &mut nearest);
            for found in nearest.iter_mut().filter(|(_, distance)| !distance.is_finite()) {
                *found = (0, f32::INFINITY);
            }
            nearest
        };
        match rows.len() <= ROWS_PER_TASK * self.width {
            true => task(rows),
            false => rows.par_chunks(ROWS_PER_TASK * self.width).flat_map_iter(task).collect(),
        }
    }

    /// Returns the nearest point to one row, and its distance.
    pub fn nearest_one(&self, row: &[f32]) -> (u32, f32) {
        self.nearest(row)[0]
    }

    /// Returns the `k` nearest points to a row, nearest first.
    pub fn nearest_few(&self, row: &[f32], k: usize) -> Vec<(u32, f32)> {
        let mut found = Vec::with_capacity(k.min(self.n));
        self.nearest_few_of(row, k, &mut found);
        found
    }

    /// Appends the `k` nearest points to each row of `[rows, width]`, nearest first, and their
    /// distances.
    pub fn nearest_few_of(&self, rows: &[f32], k: usize, found: &mut Vec<(u32, f32)>) {
        isochrone_core::vector_arch().dispatch(Task { points: self, rows, k, found });
    }

    /// Finds the `k` nearest points to a row.
    #[inline(always)]
    fn search(&self, search: &mut Search, row: &[f32], k: usize) {
        let Search { bounds, found } = search;
        let k = k.min(self.n);
        bounds.clear();
        found.clear();
        if k == 0 {
            return;
        }
        // The nearest leaf comes first, so that most of the others are excluded.
        let (mut min, mut group_of_min) = ([f32::INFINITY; LANES], [0u32; LANES]);
        for group in 0..self.leaves.n_groups() {
            let to_boxes = self.leaves.bounds(group, row);
            for lane in 0..LANES {
                let is_nearer = to_boxes[lane] < min[lane];
                min[lane] = if is_nearer { to_boxes[lane] } else { min[lane] };
                group_of_min[lane] = if is_nearer { group as u32 } else { group_of_min[lane] };
            }
            bounds.push(to_boxes);
        }
        let first = (0..LANES).fold(0, |best, lane| if min[lane] < min[best] { lane } else { best });
        let first = group_of_min[first] as usize * LANES + first;
        let mut limit = self.compare(first, row, k, f32::INFINITY, found);
        for (group, bounds) in bounds.iter().enumerate() {
            if !is_any_within(bounds, limit) {
                continue;
            }
            for leaf in (0..LANES).map(|lane| group * LANES + lane) {
                if bounds[leaf % LANES] <= limit && leaf != first && leaf < self.leaves.len() {
                    limit = self.compare(leaf, row, k, limit, found);
                }
            }
        }
        // Distances that are not numbers come last.
        let mut others = 0..self.n as u32;
        while found.len() < k {
            let is_new = |point: &u32| found.iter().all(|(_, other)| other != point);
            found.extend(others.find(is_new).map(|point| (f32::NAN, point)));
        }
    }

    /// Compares a row with the points of a leaf, and returns the squared distance beyond which
    /// points are no longer of interest.
    #[inline(always)]
    fn compare(&self, leaf: usize, row: &[f32], k: usize, limit: f32, found: &mut Vec<(f32, u32)>) -> f32 {
        let Some(squares) = self.leaves.squares_within(leaf, row, limit) else { return limit };
        let mut limit = limit;
        for (&square, &point) in squares.iter().zip(self.leaves.numbers_of(leaf)) {
            if square <= limit && point != NO_POINT {
                let place = found.partition_point(|other| *other < (square, point));
                if place < k {
                    found.truncate(k - 1);
                    found.insert(place, (square, point));
                }
                if found.len() == k {
                    limit = found[k - 1].0;
                }
            }
        }
        limit
    }
}

/// A search for several rows. Unlike a closure, it is inlined into code for the processor that it
/// runs on.
struct Task<'a> {
    points: &'a Points,
    rows: &'a [f32],
    k: usize,
    found: &'a mut Vec<(u32, f32)>,
}

impl WithSimd for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut search = Search::default();
        for row in self.rows.chunks_exact(self.points.width) {
            self.points.search(&mut search, row, self.k);
            for &(square, point) in &search.found {
                self.found.push((point, square.sqrt()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refined::rows::apart;
    use isochrone_core::rng;

    /// Returns the `k` nearest points by sorting all of them.
    fn by_sorting(points: &[f32], row: &[f32], k: usize) -> Vec<(u32, f32)> {
        let all = points.chunks_exact(row.len()).enumerate();
        let mut all: Vec<(u32, f32)> = all.map(|(i, point)| (i as u32, apart(row, point).powi(2))).collect();
        let square = |point: &(u32, f32)| {
            let point = &points[point.0 as usize * row.len()..][..row.len()];
            row.iter().zip(point).fold(0.0, |sum: f32, (a, b)| sum + (a - b) * (a - b))
        };
        all.iter_mut().for_each(|point| point.1 = square(point));
        all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        all.truncate(k);
        all.iter_mut().for_each(|point| point.1 = point.1.sqrt());
        all
    }

    /// Points in a cube, on a grid with equal points and equal distances, on a line in many
    /// dimensions, and far apart in scale.
    #[test]
    fn the_nearest_points_agree_with_sorting_all() {
        let mut random = rng::stream(1, 0);
        let mut draw = |n: usize| (0..n).map(|_| rng::unit_f64(&mut random) as f32).collect::<Vec<f32>>();
        for (n, width) in [(1, 1), (3, 2), (16, 2), (17, 2), (300, 1), (300, 3), (2000, 2), (700, 29)] {
            let (cube, more) = (draw(n * width), draw(60 * width));
            let grid: Vec<f32> = cube.iter().map(|x| (x * 7.0).round()).collect();
            let more_grid: Vec<f32> = more.iter().map(|x| (x * 14.0).round() / 2.0).collect();
            let line = |values: &[f32]| -> Vec<f32> {
                let steep = |(place, x): (usize, &f32)| x * 1e-3 + (place / width) as f32 * 0.01;
                values.iter().enumerate().map(steep).collect()
            };
            let steep: Vec<f32> = cube.iter().map(|x| x.powi(20) * 1e19).collect();
            let sets = [(line(&cube), line(&more)), (grid, more_grid), (steep, more.clone()), (cube, more)];
            for (points, rows) in sets {
                let index = Points::new(&points, width);
                let nearest = index.nearest(&rows);
                for (row, nearest) in rows.chunks_exact(width).zip(nearest) {
                    assert_eq!(nearest, by_sorting(&points, row, 1)[0]);
                    assert_eq!(nearest, index.nearest_one(row));
                    for k in [1, 3, 40] {
                        assert_eq!(index.nearest_few(row, k), by_sorting(&points, row, k), "{n} {width}");
                    }
                }
            }
        }
    }

    #[test]
    fn values_that_are_not_finite_are_far_from_everything() {
        let mut points: Vec<f32> = (0..80).map(|point| point as f32).collect();
        (points[7], points[61]) = (f32::NAN, f32::INFINITY);
        let index = Points::new(&points, 2);
        assert_eq!(index.nearest_one(&[f32::NAN, 1.0]), (0, f32::INFINITY));
        assert_eq!(index.nearest_one(&[1.0, f32::NEG_INFINITY]), (0, f32::INFINITY));
        assert_eq!(index.nearest_few(&[f32::NAN, 0.0], 3).len(), 3);
        for point in [0u32, 2, 4, 29, 31, 39] {
            let row = &points[2 * point as usize..][..2];
            assert_eq!(index.nearest_one(row), (point, 0.0));
            assert_eq!(index.nearest_few(row, 3)[0], (point, 0.0));
        }
        // Its own distance is not a number.
        assert_ne!(index.nearest_one(&[6.0, 7.0]).0, 3);
        assert_eq!(index.nearest_few(&[0.0, 0.0], 40).len(), 40);
        assert_eq!(Points::new(&[], 2).nearest_few(&[0.0, 0.0], 3), []);
    }
}
