//! The model: landmarks, moves between them, and what jumps lead to.

use super::{
    JumpReport,
    chord::Chord,
    config::ChanceConfig,
    error::ChanceError,
    hazard::Hazards,
    jumps::Jumps,
    landmarks::Landmarks,
    moves, outcomes,
    problem::{Problem, Source},
    untested,
};
use crate::refined::{
    HopMetric,
    nearest::Points,
    rows::{Rows, apart},
};
use isochrone_core::{ShapeError, shape::check_row};
use isochrone_data::Dataset;

/// Landmarks within this many radii of a goal may go straight to it.
const GOAL_RADII: f32 = 2.0;

/// A model of moves and jumps, from recorded rows only.
pub struct ChanceModel {
    pub(super) metric: HopMetric,
    pub(super) points: Points,
    /// `[landmarks, projected width]`
    pub(super) values: Vec<f32>,
    /// The rows of the dataset that are landmarks.
    pub(super) landmark_rows: Vec<u32>,
    /// The row to aim at to enter on purpose, by landmark; only where rows jump.
    pub(super) entry_rows: Vec<Option<u32>>,
    pub(super) hazards: Vec<f64>,
    pub(super) radius: f32,
    pub(super) mean_step: f32,
    problem: Problem,
    jumps: JumpReport,
    reversible_share: f64,
}

impl ChanceModel {
    /// Builds the model of a dataset.
    ///
    /// # Errors
    /// If a setting is out of range, the dataset has no transitions, or no column is informative
    /// about elapsed time.
    pub fn fit(data: &Dataset, config: &ChanceConfig) -> Result<Self, ChanceError> {
        config.check()?;
        let jumps = Jumps::find(data, config)?;
        let landmarks = Landmarks::choose(&jumps, config);
        let hazards = Hazards::count(&jumps, &landmarks, config.clearance_steps * jumps.mean_step);
        let width = jumps.rows.width;
        let mut moves = moves::recorded(&jumps, &landmarks, &hazards);
        if !jumps.jump_rows.is_empty() {
            moves::charge_chords(&mut moves, &landmarks, &hazards);
        }
        let reversible_share = untested::reversible_share(&moves, &landmarks, &hazards);
        if !config.recorded_only && reversible_share >= untested::MIN_REVERSIBLE {
            moves.extend(untested::reverses(&moves, &landmarks, &hazards));
            moves.extend(untested::bridges(&moves, &landmarks, &hazards, width));
        }
        let is_entry = hazards.jumped.iter().map(|jumped| *jumped > 0.0).collect();
        let regions = outcomes::regions(&jumps, &landmarks);
        let problem = Problem::new(moves, regions, is_entry, outcomes::of_regions(&jumps, &landmarks));
        Ok(Self {
            entry_rows: entry_rows(&jumps, &landmarks),
            jumps: JumpReport::new(data, &jumps),
            metric: jumps.metric,
            radius: landmarks.radius,
            points: landmarks.points,
            values: landmarks.values,
            landmark_rows: landmarks.rows,
            hazards: hazards.per_row,
            mean_step: jumps.mean_step,
            problem,
            reversible_share,
        })
    }

    /// Returns the number of values in a state.
    pub fn width(&self) -> usize {
        self.metric.width()
    }

    /// Returns the rows of the dataset that are landmarks, counted over all episodes.
    pub fn landmark_rows(&self) -> &[u32] {
        &self.landmark_rows
    }

    /// Returns the moves between landmarks and the outcomes of jumps.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns the jumps of the data.
    pub fn jumps(&self) -> &JumpReport {
        &self.jumps
    }

    /// Returns the cover radius, in steps.
    pub fn radius_steps(&self) -> f64 {
        f64::from(self.radius)
    }

    /// Returns the probability of a jump per row, by landmark.
    pub fn hazards(&self) -> &[f64] {
        &self.hazards
    }

    /// Returns the share of near moves that are recorded in both directions, on which it depends
    /// whether moves that the data lack are considered.
    pub fn reversible_share(&self) -> f64 {
        self.reversible_share
    }

    /// Returns the number of moves that the data lack.
    pub fn n_untested(&self) -> usize {
        self.problem.moves().iter().filter(|step| step.source != Source::Recorded).count()
    }

    /// Returns a state in the coordinates of the metric.
    ///
    /// # Errors
    /// If it has the wrong width.
    pub(super) fn project(&self, state: &[f32]) -> Result<Vec<f32>, ShapeError> {
        check_row("state", state, self.width())?;
        let mut projected = Vec::with_capacity(self.metric.projected_width());
        self.metric.project(state, &mut projected);
        Ok(projected)
    }

    /// Returns a landmark in the coordinates of the metric.
    pub(super) fn landmark(&self, landmark: u32) -> &[f32] {
        let width = self.metric.projected_width();
        &self.values[landmark as usize * width..][..width]
    }

    pub(super) fn chord(&self) -> Chord<'_> {
        Chord { points: &self.points, hazards: &self.hazards, radius: self.radius }
    }

    /// Returns the landmarks near a projected goal from which data cover the straight line to it,
    /// and the steps; at least the nearest one.
    pub(super) fn ends(&self, goal: &[f32]) -> Vec<(u32, f32)> {
        let (nearest, hop) = self.points.nearest_one(goal);
        let all = (0..self.landmark_rows.len() as u32).map(|mark| (mark, apart(self.landmark(mark), goal)));
        let near = all.filter(|(mark, apart)| *mark != nearest && *apart <= GOAL_RADII * self.radius);
        let covered = near.filter(|(mark, _)| self.chord().is_covered(self.landmark(*mark), goal));
        std::iter::once((nearest, hop)).chain(covered).collect()
    }
}

/// Returns, for each landmark near which rows jump, the jumping row nearest to their mean.
fn entry_rows(jumps: &Jumps, landmarks: &Landmarks) -> Vec<Option<u32>> {
    let rows: &Rows = &jumps.rows;
    let mut own: Vec<Vec<u32>> = vec![Vec::new(); landmarks.len()];
    jumps.jump_rows.iter().for_each(|&row| own[landmarks.cells[row as usize].0 as usize].push(row));
    let middle = |own: Vec<u32>| {
        let n = own.len() as f32;
        let mut mean = vec![0.0; rows.width];
        for &row in &own {
            mean.iter_mut().zip(rows.row(row as usize)).for_each(|(mean, x)| *mean += x / n);
        }
        let away = |row: u32| apart(rows.row(row as usize), &mean);
        own.into_iter().min_by(|a, b| away(*a).total_cmp(&away(*b)))
    };
    own.into_iter().map(middle).collect()
}
