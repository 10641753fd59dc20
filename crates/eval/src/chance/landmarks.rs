//! Landmarks that cover the data, closer to each other where some rows jump and some do not.

use super::{config::ChanceConfig, jumps::Jumps};
use crate::refined::{
    choice::sample,
    cover::cover,
    nearest::Points,
    rows::{Rows, apart},
};
use isochrone_core::rng;

/// The border of an entry is covered again with these fractions of the radius.
const FINER: [f32; 2] = [0.5, 0.25];
/// A landmark is at a border if the share of its rows that jump is between these.
const MIXED: [f64; 2] = [0.02, 0.98];
/// The maximum number of rows near a border that landmarks are chosen from.
const BORDER_ROWS: usize = 20_000;

/// Landmarks and the rows that belong to them.
pub(crate) struct Landmarks {
    /// The rows of the dataset that are landmarks.
    pub rows: Vec<u32>,
    pub points: Points,
    /// `[landmarks, width]`
    pub values: Vec<f32>,
    /// For every row of the dataset, the nearest landmark and the hop to it in steps.
    pub cells: Vec<(u32, f32)>,
    /// The cover radius, in steps.
    pub radius: f32,
}

impl Landmarks {
    /// Chooses landmarks.
    pub fn choose(jumps: &Jumps, config: &ChanceConfig) -> Self {
        let rows = &jumps.rows;
        let sampled = sample(rows.len(), config.sampled_rows, config.seed);
        let chosen = cover(&rows.select(&sampled), rows.width, config.landmarks, jumps.radius);
        let radius = chosen[chosen.len() - 1].1.max(jumps.radius);
        let mut chosen: Vec<u32> = chosen.into_iter().map(|(number, _)| sampled[number]).collect();
        let (mut points, mut cells) = nearest(rows, &chosen);
        for (pass, finer) in FINER.into_iter().enumerate() {
            let mut border = border_rows(jumps, &cells, chosen.len());
            if border.len() > BORDER_ROWS {
                let mut random = rng::stream(config.seed, 3 + pass as u64);
                border = (0..BORDER_ROWS).map(|_| border[rng::below(&mut random, border.len())]).collect();
            }
            let more = more_centers(rows, &border, &cells, radius * finer);
            if more.is_empty() {
                break;
            }
            chosen.extend(more);
            (points, cells) = nearest(rows, &chosen);
        }
        Self { values: rows.select(&chosen), rows: chosen, points, cells, radius }
    }

    /// Returns the number of landmarks.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns a landmark in the coordinates of the metric.
    pub fn value(&self, landmark: u32) -> &[f32] {
        let width = self.values.len() / self.len();
        &self.values[landmark as usize * width..][..width]
    }
}

fn nearest(rows: &Rows, chosen: &[u32]) -> (Points, Vec<(u32, f32)>) {
    let points = Points::new(&rows.select(chosen), rows.width);
    let cells = points.nearest(&rows.values);
    (points, cells)
}

/// Returns the rows whose landmarks have both rows that jump and rows that do not.
fn border_rows(jumps: &Jumps, cells: &[(u32, f32)], n: usize) -> Vec<u32> {
    let (visits, jumped) = jumps.visits(cells, n);
    let is_mixed: Vec<bool> = (0..n)
        .map(|landmark| {
            let share: f64 = jumped[landmark] / f64::max(visits[landmark], 1.0);
            share > MIXED[0] && share < MIXED[1]
        })
        .collect();
    let rows = (0..cells.len()).filter(|&row| jumps.has_step(row) && is_mixed[cells[row].0 as usize]);
    rows.map(|row| row as u32).collect()
}

/// Greedy k-center among some rows, which are already covered by the landmarks of `cells`.
fn more_centers(rows: &Rows, some: &[u32], cells: &[(u32, f32)], radius: f32) -> Vec<u32> {
    let mut to_nearest: Vec<f32> = some.iter().map(|&row| cells[row as usize].1).collect();
    let mut chosen = Vec::new();
    loop {
        let mut farthest = (radius, usize::MAX);
        for (number, distance) in to_nearest.iter().enumerate() {
            if *distance > farthest.0 {
                farthest = (*distance, number);
            }
        }
        if farthest.1 == usize::MAX {
            return chosen;
        }
        let center = some[farthest.1];
        chosen.push(center);
        for (distance, &row) in to_nearest.iter_mut().zip(some) {
            *distance = distance.min(apart(rows.row(row as usize), rows.row(center as usize)));
        }
    }
}
