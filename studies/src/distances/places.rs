//! Goals that are places: any recorded state there will do.

use isochrone_core::{Discount, ShapeError, TemporalDistance};
use isochrone_data::Dataset;
use isochrone_eval::refined::{GoalSet, RefinedDistance};
use rayon::prelude::*;

/// Steps to the nearest recorded state within a radius of a goal, in its first two columns. Of goals nothing
/// else counts.
pub struct PlaceDistance {
    refined: RefinedDistance,
    radius: f32,
    /// All recorded states, sorted by their first column, `[n, width]`.
    rows: Vec<f32>,
    /// Their first column.
    sorted: Vec<f32>,
}

impl PlaceDistance {
    /// Steps to places among the states of a dataset.
    pub fn new(refined: RefinedDistance, data: &Dataset, radius: f32) -> Self {
        let width = refined.width();
        let episodes = (0..data.n_episodes()).map(|episode| data.episode(episode).observations);
        let mut states: Vec<&[f32]> = episodes.flat_map(|rows| rows.chunks_exact(width)).collect();
        states.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let sorted = states.iter().map(|state| state[0]).collect();
        // The first question makes the table of the graph: before many are asked in parallel.
        refined.extrapolates(&[]).expect("no rows are whole rows");
        Self { refined, radius, rows: states.concat(), sorted }
    }

    fn goals(&self, goal: &[f32]) -> GoalSet {
        let (width, radius) = (goal.len(), self.radius);
        let first = self.sorted.partition_point(|x| *x < goal[0] - radius);
        let last = self.sorted.partition_point(|x| *x <= goal[0] + radius);
        let near = self.rows[first * width..last * width].chunks_exact(width);
        let near = near.filter(|row| (row[0] - goal[0]).hypot(row[1] - goal[1]) <= radius);
        let states: Vec<f32> = near.flatten().copied().collect();
        self.refined.goal_set(&states).expect("they are whole states")
    }

    fn steps_to(&self, from: &[f32], goal: &[f32]) -> Vec<f64> {
        self.refined.steps_to_set(from, &self.goals(goal)).expect("they are whole states")
    }

    fn nats(&self, steps: Vec<f64>) -> Vec<f32> {
        steps.into_iter().map(|steps| (steps * self.discount().nats_per_step()) as f32).collect()
    }
}

impl TemporalDistance for PlaceDistance {
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
