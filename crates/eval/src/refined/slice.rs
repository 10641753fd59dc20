//! Goals that specify only some columns of a state, such as a position.

use super::{GoalSet, RefinedDistance};
use isochrone_core::{Discount, ShapeError, TemporalDistance};
use isochrone_data::Dataset;
use rayon::prelude::*;
use std::ops::Range;

/// The distance to the nearest recorded state that matches the goal in some columns, such as the
/// position of an ant regardless of its pose. The other columns of goals are ignored.
pub struct SliceDistance {
    refined: RefinedDistance,
    columns: Range<usize>,
    within: f32,
    /// All recorded states, sorted by the first goal column, `[n, width]`.
    rows: Vec<f32>,
    /// The values of the first goal column.
    sorted: Vec<f32>,
}

impl SliceDistance {
    /// Creates the distance. A goal matches all states of `data`, to which `refined` was fitted,
    /// that are `within` this Euclidean distance of it in the `columns`.
    ///
    /// # Panics
    /// If `columns` is empty or out of range.
    pub fn new(refined: RefinedDistance, data: &Dataset, columns: Range<usize>, within: f32) -> Self {
        let width = refined.width();
        assert!(!columns.is_empty() && columns.end <= width, "columns {columns:?} of {width}");
        let first = columns.start;
        let episodes = (0..data.n_episodes()).map(|episode| data.episode(episode).observations);
        let mut states: Vec<&[f32]> = episodes.flat_map(|rows| rows.chunks_exact(width)).collect();
        states.sort_by(|a, b| a[first].total_cmp(&b[first]));
        let sorted = states.iter().map(|state| state[first]).collect();
        refined.make_table();
        Self { refined, columns, within, rows: states.concat(), sorted }
    }

    fn goals(&self, goal: &[f32]) -> GoalSet {
        let (width, within) = (goal.len(), self.within);
        let slice = &goal[self.columns.clone()];
        let first = self.sorted.partition_point(|x| *x < slice[0] - within);
        let last = self.sorted.partition_point(|x| *x <= slice[0] + within);
        let near = self.rows[first * width..last * width].chunks_exact(width);
        let distance = |row: &[f32]| -> f32 {
            row[self.columns.clone()].iter().zip(slice).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
        };
        let near = near.filter(|row| distance(row) <= within);
        let states: Vec<f32> = near.flatten().copied().collect();
        self.refined.goal_set(&states).expect("states are complete")
    }

    fn steps_to(&self, from: &[f32], goal: &[f32]) -> Vec<f64> {
        self.refined.steps_to_set(from, &self.goals(goal)).expect("states are complete")
    }

    fn nats(&self, steps: Vec<f64>) -> Vec<f32> {
        steps.into_iter().map(|steps| (steps * self.discount().nats_per_step()) as f32).collect()
    }
}

impl TemporalDistance for SliceDistance {
    fn width(&self) -> usize {
        self.refined.width()
    }

    fn discount(&self) -> Discount {
        self.refined.discount()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.nats(self.paired_steps(from, to).unwrap_or_else(ShapeError::panic))
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.nats(self.all_pairs_steps(from, to).unwrap_or_else(ShapeError::panic))
    }

    fn paired_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, ShapeError> {
        self.check_paired(from, to)?;
        let pairs = from.par_chunks_exact(self.width()).zip(to.par_chunks_exact(self.width()));
        Ok(pairs.map(|(from, to)| self.steps_to(from, to)[0]).collect())
    }

    fn all_pairs_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, ShapeError> {
        let (n, m) = self.check_all_pairs(from, to)?;
        let columns: Vec<Vec<f64>> =
            to.par_chunks_exact(self.width()).map(|goal| self.steps_to(from, goal)).collect();
        Ok((0..n)
            .flat_map(|row| (0..m).map(move |column| (row, column)))
            .map(|(row, column)| columns[column][row])
            .collect())
    }
}
