//! Landmarks that cover the data, regardless of how unevenly states are visited.

use super::leaves::{LANES, Leaves, NO_POINT};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// The number of groups of leaves per parallel task.
const GROUPS_PER_TASK: usize = 16;
/// The number of values above which a center is compared in parallel; with fewer, the overhead of
/// tasks dominates.
const MIN_PARALLEL: usize = 1 << 18;

/// Greedy k-center: chooses at most `k` of the rows, `[n, width]`, such that every row is near one
/// of them. Starts with the first row, and continues with the row that is farthest from all chosen
/// rows. Returns the indices of the chosen rows, each with the cover radius after it was added; a
/// prefix is the solution for a smaller `k`.
///
/// A new center is compared only with the leaves of rows that it can be nearer to than the others.
pub(crate) fn k_center(rows: &[f32], width: usize, k: usize) -> Vec<(usize, f32)> {
    cover(rows, width, k, 0.0)
}

/// Greedy k-center that stops as soon as every row is within `enough` of a chosen row.
pub(crate) fn cover(rows: &[f32], width: usize, k: usize, enough: f32) -> Vec<(usize, f32)> {
    let leaves = Leaves::new(rows, width);
    let mut groups: Vec<Group> = (0..leaves.n_groups()).map(|group| Group::new(&leaves, group)).collect();
    let (mut chosen, mut newest, mut n_compared) = (Vec::with_capacity(k), 0, usize::MAX);
    loop {
        let center = &rows[newest * width..][..width];
        let add = |(task, groups): (usize, &mut [Group])| {
            isochrone_core::vector_arch().dispatch(Task {
                leaves: &leaves,
                first: task * GROUPS_PER_TASK,
                groups,
                center,
            })
        };
        // Most centers are near those before them in cost. Results do not depend on the branch.
        n_compared = match n_compared.saturating_mul(LANES * width) >= MIN_PARALLEL {
            true => groups.par_chunks_mut(GROUPS_PER_TASK).enumerate().map(add).sum(),
            false => groups.chunks_mut(GROUPS_PER_TASK).enumerate().map(add).sum(),
        };
        let radius = groups.iter().map(|group| group.radius).fold(0.0, f32::max);
        chosen.push((newest, radius));
        if radius <= enough || chosen.len() == k {
            return chosen;
        }
        let farthest = groups.iter().enumerate().filter(|(_, group)| group.radius == radius);
        let farthest = farthest.flat_map(|(group, state)| state.at_radius(&leaves, group, radius));
        newest = farthest.min().expect("a row is at the radius") as usize;
    }
}

/// The state of a group of leaves.
struct Group {
    /// Squared distances of rows to the nearest center, by leaf.
    squares: [[f32; LANES]; LANES],
    /// The largest of each leaf.
    largest: [f32; LANES],
    /// The distance of the farthest row.
    radius: f32,
}

impl Group {
    /// No center is chosen; rows that fill the last leaf are at no distance.
    fn new(leaves: &Leaves, group: usize) -> Self {
        let (mut squares, mut largest) = ([[0.0; LANES]; LANES], [f32::NEG_INFINITY; LANES]);
        for (lane, leaf) in of_group(leaves, group).enumerate() {
            largest[lane] = f32::INFINITY;
            for (square, number) in squares[lane].iter_mut().zip(leaves.numbers_of(leaf)) {
                *square = if *number == NO_POINT { 0.0 } else { f32::INFINITY };
            }
        }
        Self { squares, largest, radius: f32::INFINITY }
    }

    /// Adds a center, and returns the number of leaves that it was compared with.
    #[inline(always)]
    fn add(&mut self, leaves: &Leaves, group: usize, center: &[f32]) -> usize {
        let bounds = leaves.bounds(group, center);
        let mut is_near = [false; LANES];
        for lane in 0..LANES {
            is_near[lane] = bounds[lane] < self.largest[lane];
        }
        if is_near == [false; LANES] {
            return 0;
        }
        let mut compared = 0;
        for lane in (0..LANES).filter(|lane| is_near[*lane]) {
            compared += 1;
            let leaf = group * LANES + lane;
            let Some(squares) = leaves.squares_within(leaf, center, self.largest[lane]) else { continue };
            let nearest = &mut self.squares[lane];
            for row in 0..LANES {
                nearest[row] = if squares[row] < nearest[row] { squares[row] } else { nearest[row] };
            }
            self.largest[lane] = largest(nearest);
        }
        self.radius = largest(&self.largest).sqrt();
        compared
    }

    /// Returns the numbers of the rows at the radius. Distances are compared after the square root,
    /// which rounds some different squares to the same distance.
    fn at_radius<'a>(
        &'a self,
        leaves: &'a Leaves,
        group: usize,
        radius: f32,
    ) -> impl Iterator<Item = u32> + 'a {
        of_group(leaves, group).zip(&self.squares).flat_map(move |(leaf, squares)| {
            let rows = leaves.numbers_of(leaf).iter().zip(squares);
            rows.filter(move |(_, square)| square.sqrt() == radius).map(|(number, _)| *number)
        })
    }
}

/// The comparison of a center with several groups. Unlike a closure, it is inlined into code for
/// the processor that it runs on.
struct Task<'a> {
    leaves: &'a Leaves,
    /// The number of the first group.
    first: usize,
    groups: &'a mut [Group],
    center: &'a [f32],
}

impl WithSimd for Task<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        let mut compared = 0;
        for (group, state) in self.groups.iter_mut().enumerate() {
            compared += state.add(self.leaves, self.first + group, self.center);
        }
        compared
    }
}

/// Returns the largest value that is positive, or 0.
#[inline(always)]
fn largest(values: &[f32; LANES]) -> f32 {
    let mut largest = 0.0;
    for &value in values {
        largest = if value > largest { value } else { largest };
    }
    largest
}

/// Returns the leaves of a group.
fn of_group(leaves: &Leaves, group: usize) -> Range<usize> {
    group * LANES..leaves.len().min((group + 1) * LANES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refined::rows::apart;
    use isochrone_core::rng;

    /// Greedy k-center by comparing every center with all rows.
    fn by_comparing_all(rows: &[f32], width: usize, k: usize) -> Vec<(usize, f32)> {
        let row = |number: usize| &rows[number * width..][..width];
        let mut to_nearest = vec![f32::INFINITY; rows.len() / width];
        let (mut chosen, mut newest) = (Vec::new(), 0);
        loop {
            let mut farthest = (0.0, usize::MAX);
            for (number, nearest) in to_nearest.iter_mut().enumerate() {
                *nearest = nearest.min(apart(row(number), row(newest)));
                if *nearest > farthest.0 {
                    farthest = (*nearest, number);
                }
            }
            chosen.push((newest, farthest.0));
            if farthest.0 == 0.0 || chosen.len() == k {
                return chosen;
            }
            newest = farthest.1;
        }
    }

    #[test]
    fn few_points_cover_a_crowded_line() {
        // A thousand rows near 0, one at 10, one at 5.
        let mut rows: Vec<f32> = (0..1000).map(|i| i as f32 * 1e-4).collect();
        rows.extend([10.0, 5.0]);
        assert_eq!(k_center(&rows, 1, 3), [(0, 10.0), (1000, 5.0), (1001, 0.0999)]);
        // Two recurring states need no third landmark.
        assert_eq!(k_center(&[1.0, 2.0, 1.0, 2.0], 1, 4), [(0, 1.0), (1, 0.0)]);
    }

    /// Rows in a cube, and on a grid with equal rows and equal distances; enough values that
    /// centers are compared in parallel, and rows that are not numbers.
    #[test]
    fn the_centers_are_those_of_comparing_all_rows() {
        let mut random = rng::stream(1, 0);
        for (n, width, k) in [(1, 2, 3), (40, 2, 60), (5000, 2, 700), (12_000, 29, 60)] {
            let cube: Vec<f32> = (0..n * width).map(|_| rng::unit_f64(&mut random) as f32).collect();
            let grid: Vec<f32> = cube.iter().map(|x| (x * 9.0).round()).collect();
            let mut broken = cube.clone();
            broken[n / 2] = f32::NAN;
            for rows in [cube, grid, broken] {
                assert_eq!(k_center(&rows, width, k), by_comparing_all(&rows, width, k), "{n} {width}");
            }
        }
    }
}
