//! Hops between frames of different episodes, in the metric of the motion recorded around them.
//!
//! ```text
//! m_u(d)^2 = d^T (S_u + eps I)^-1 d,   hop(u, v) = (m_u(x_v - x_u) + m_v(x_v - x_u)) / 2
//! ```
//!
//! `S_u` is the mean outer product of the displacements over half a second of the 60 frames nearest
//! to `u`: only dimensions that move there are cheap. A cube on a table cannot be hopped, a cube in
//! the hand can. The metric is scaled so that recorded motion reads its length in frames.

use super::{Demos, displacement::Frames, nodes::Nodes};
use crate::refined::nearest::Points;
use isochrone_core::statistics::median;
use rayon::prelude::*;

/// The time of a displacement, in frames at 30 frames per second.
const LAG: usize = 15;
/// The number of recorded displacements that a metric is computed from.
const NEIGHBORS: usize = 60;
/// The number of frames that neighbors are searched in.
const POOL: usize = 50_000;
/// The smallest displacement, in standard deviations of a column.
const MIN_DISPLACEMENT: f64 = 0.05;

/// Returns the hop to each node from each other, in frames, `[to, from]`; infinite within an
/// episode.
pub(super) fn hops(demos: &Demos<'_>, nodes: &Nodes, frames: Frames) -> Vec<f32> {
    let width = demos.width();
    let scales: Vec<f32> = {
        let deviations = &demos.reference(0).deviations;
        deviations.iter().map(|one| if *one > 0.0 { (1.0 / one) as f32 } else { 0.0 }).collect()
    };
    let scaled = |states: &[f32]| -> Vec<f32> {
        states.iter().enumerate().map(|(at, value)| value * scales[at % width]).collect()
    };
    let lag = frames.at_30(LAG);
    let (mut pool, mut displacements) = (Vec::new(), Vec::new());
    let every = (demos.data.index().n_states() as usize).div_ceil(POOL).max(1);
    for episode in 0..demos.data.n_episodes() {
        let rows = scaled(demos.states(episode));
        let last = rows.len() / width - 1;
        for frame in (0..=last).step_by(every) {
            pool.extend_from_slice(&rows[frame * width..][..width]);
            // Half a lag before and after; less at the ends of an episode, where gaps begin.
            let (first, later) = (frame.saturating_sub(lag / 2), (frame + lag.div_ceil(2)).min(last));
            let share = lag as f64 / (later - first).max(1) as f64;
            let (from, to) = (&rows[first * width..][..width], &rows[later * width..][..width]);
            displacements.extend(from.iter().zip(to).map(|(from, to)| share * f64::from(to - from)));
        }
    }
    let points = Points::new(&pool, width);
    let rows: Vec<Vec<f32>> = nodes
        .frames
        .iter()
        .map(|id| scaled(&demos.states(id.episode)[id.frame * width..][..width]))
        .collect();
    let from_node = |node: usize| -> Vec<f32> {
        let near = points.nearest_few(&rows[node], NEIGHBORS.min(pool.len() / width));
        let near = near.iter().map(|(at, _)| &displacements[*at as usize * width..][..width]);
        let lower = cholesky(&second_moments(near, width), width);
        let hop = |to: &Vec<f32>| {
            let apart = to.iter().zip(&rows[node]).map(|(to, from)| f64::from(to - from));
            (lag as f64 * whitened_length(&lower, apart)) as f32
        };
        rows.iter().map(hop).collect()
    };
    let from_nodes: Vec<Vec<f32>> = (0..nodes.len()).into_par_iter().map(from_node).collect();
    // Nodes that are about a lag apart in an episode.
    let ahead = (lag / nodes.stride).max(1);
    let has_ahead = |node: &usize| {
        let later = nodes.frames.get(node + ahead);
        later.is_some_and(|later| later.episode == nodes.episode(*node))
    };
    let recorded = |node: usize| {
        let frames = nodes.frames[node + ahead].frame - nodes.frames[node].frame;
        f64::from(from_nodes[node][node + ahead]) / frames as f64
    };
    let typical = median((0..nodes.len()).filter(has_ahead).map(recorded).collect());
    let scale = if typical > 0.0 { (1.0 / typical) as f32 } else { 1.0 };
    // A bridge begins with the motion around one end and arrives with that around the other.
    let from_nodes = &from_nodes;
    let to_node = |to: usize| {
        from_nodes.iter().enumerate().map(move |(from, hops)| {
            let is_own = nodes.episode(from) == nodes.episode(to);
            if is_own { f32::INFINITY } else { 0.5 * (hops[to] + from_nodes[to][from]) * scale }
        })
    };
    (0..nodes.len()).into_par_iter().flat_map_iter(to_node).collect()
}

/// Returns the mean outer product of rows, `[width, width]`, plus the smallest displacement.
fn second_moments<'a>(rows: impl Iterator<Item = &'a [f64]>, width: usize) -> Vec<f64> {
    let (mut sum, mut n) = (vec![0.0; width * width], 0.0f64);
    for row in rows {
        for (line, value) in sum.chunks_exact_mut(width).zip(row) {
            line.iter_mut().zip(row).for_each(|(sum, other)| *sum += value * other);
        }
        n += 1.0;
    }
    sum.iter_mut().for_each(|sum| *sum /= n.max(1.0));
    for column in 0..width {
        sum[column * width + column] += MIN_DISPLACEMENT * MIN_DISPLACEMENT;
    }
    sum
}

/// Returns the lower triangular factor `L` of a positive definite matrix `L L^T`.
fn cholesky(matrix: &[f64], width: usize) -> Vec<f64> {
    let mut lower = vec![0.0; width * width];
    for row in 0..width {
        for column in 0..=row {
            let inner: f64 = (0..column).map(|at| lower[row * width + at] * lower[column * width + at]).sum();
            let rest = matrix[row * width + column] - inner;
            lower[row * width + column] = match row == column {
                true => rest.max(f64::MIN_POSITIVE).sqrt(),
                false => rest / lower[column * width + column],
            };
        }
    }
    lower
}

/// Returns the length of `L^-1 x`.
fn whitened_length(lower: &[f64], vector: impl Iterator<Item = f64>) -> f64 {
    let vector: Vec<f64> = vector.collect();
    let width = vector.len();
    let mut solved = vec![0.0; width];
    for row in 0..width {
        let line = &lower[row * width..][..row];
        let inner: f64 = line.iter().zip(&solved).map(|(a, b)| a * b).sum();
        solved[row] = (vector[row] - inner) / lower[row * width + row];
    }
    solved.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_of_the_inverse_matrix() {
        // S = [[4, 2], [2, 3]], inverse [[3, -2], [-2, 4]] / 8.
        let lower = cholesky(&[4.0, 2.0, 2.0, 3.0], 2);
        let length = whitened_length(&lower, [1.0, 2.0].into_iter());
        assert!((length.powi(2) - (3.0 - 8.0 + 16.0) / 8.0).abs() < 1e-12, "{length}");
    }

    #[test]
    fn dimensions_that_move_are_cheap() {
        let rows: Vec<[f64; 2]> = (0..20).map(|n| [f64::from(n % 3 - 1), 0.0]).collect();
        let lower = cholesky(&second_moments(rows.iter().map(|row| &row[..]), 2), 2);
        let length = |x: f64, y: f64| whitened_length(&lower, [x, y].into_iter());
        assert!(length(0.0, 1.0) > 10.0 * length(1.0, 0.0));
    }
}
