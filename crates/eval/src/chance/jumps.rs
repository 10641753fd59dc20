//! Involuntary jumps that recur: steps far longer than motion explains, with landings in the same
//! places. A fall or a kick is as long, but leads anywhere.

use super::{config::ChanceConfig, error::ChanceError, link};
use crate::{
    quantile::at_quantile,
    refined::{
        HopMetric, RefinedError,
        choice::running_count,
        jumps,
        nearest::Points,
        rows::{Rows, apart},
    },
};
use isochrone_core::rng;
use isochrone_data::Dataset;
use rayon::prelude::*;

/// A step is a jump if it is longer than this factor times what is typical where it starts and
/// where it lands. On the teleport maze and the ant, 6 to 8 find all jumps without a false alarm.
const FACTOR: f32 = 6.0;
/// The number of neighbors whose median step is typical.
const NEIGHBORS: usize = 32;
/// The number of rows sampled as neighbors.
const SAMPLED_ROWS: usize = 100_000;
/// At an entry most recorded steps are jumps, so the typical step is at most this quantile of all.
const LONGEST: f64 = 0.99;
/// The minimum number of landings in the same place.
const MIN_LANDINGS: usize = 3;
/// Jumps and landings within this many radii are linked.
const LINK_RADII: f32 = 3.0;
/// A column jumps if it changes beyond its limit in this share of the jumps.
const JUMPING_SHARE: f64 = 0.1;
/// The number of candidates per parallel task.
const PER_TASK: usize = 256;

/// The jumps of a dataset, and the metric in which states are compared.
pub(crate) struct Jumps {
    /// The metric; only of the columns that jump, if there are jumps.
    pub metric: HopMetric,
    /// All rows in the metric.
    pub rows: Rows,
    /// The columns that jump.
    pub columns: Vec<usize>,
    /// For every row, the number of steps up to it that no segment may contain: jumps, and other
    /// steps that are as long.
    pub breaks_before: Vec<u32>,
    /// The last row before each jump, ascending.
    pub jump_rows: Vec<u32>,
    /// The mean length of a step without jumps, in the metric.
    pub mean_step: f32,
    /// The radius within which states are one place, in steps.
    pub radius: f32,
    /// For each jump, the region that it starts from and the place where it lands.
    pub entry_of: Vec<u32>,
    pub exit_of: Vec<u32>,
    pub n_entries: usize,
    pub n_exits: usize,
}

impl Jumps {
    /// Finds the jumps of a dataset.
    pub fn find(data: &Dataset, config: &ChanceConfig) -> Result<Self, ChanceError> {
        if data.n_transitions() == 0 {
            return Err(RefinedError::NoTransition.into());
        }
        // The first pass finds suspects by column, because the metric is not known yet.
        let limits = jumps::largest_steps(data);
        let suspects_before = running_count(jumps::find(data, &limits));
        let mut metric = HopMetric::fit(data, &suspects_before, config.hop_pairs, config.seed)?;
        let mut rows = metric.rows(data);
        let mut long = long_steps(&rows, config.seed);
        let mut breaks = vec![false; rows.len()];
        long.iter().for_each(|&row| breaks[row as usize + 1] = true);
        let columns = jumping_columns(data, &limits, &long);
        if !columns.is_empty() {
            let breaks_before = running_count(breaks.iter().copied());
            metric = metric.of_columns(&columns, data, &breaks_before, config.hop_pairs, config.seed);
            rows = metric.rows(data);
            // The other columns, such as the joints of an ant, hide short jumps.
            long = long_steps(&rows, config.seed);
            long.iter().for_each(|&row| breaks[row as usize + 1] = true);
        }
        let breaks_before = running_count(breaks.iter().copied());
        let mean_step = mean_step(&rows, &breaks);
        let radius = config.radius_steps * mean_step;
        let mut found = Self {
            metric,
            rows,
            columns,
            breaks_before,
            jump_rows: Vec::new(),
            mean_step,
            radius,
            entry_of: Vec::new(),
            exit_of: Vec::new(),
            n_entries: 0,
            n_exits: 0,
        };
        found.keep_recurring(long);
        if found.jump_rows.is_empty() && !found.columns.is_empty() {
            // Without recurring jumps, all columns matter.
            found.columns.clear();
            found.metric = HopMetric::fit(data, &found.breaks_before, config.hop_pairs, config.seed)?;
            found.rows = found.metric.rows(data);
            found.mean_step = self::mean_step(&found.rows, &breaks);
            found.radius = config.radius_steps * found.mean_step;
        }
        Ok(found)
    }

    /// Keeps the jumps that land where others land, outside the reach of their start.
    fn keep_recurring(&mut self, long: Vec<u32>) {
        let (rows, distance) = (&self.rows, LINK_RADII * self.radius);
        let is_far = |row: &u32| apart(rows.row(*row as usize), rows.row(*row as usize + 1)) > distance;
        let far: Vec<u32> = long.into_iter().filter(is_far).collect();
        let landings = |jumps: &[u32]| rows.select(&jumps.iter().map(|row| row + 1).collect::<Vec<u32>>());
        let (exit_of, n_exits) = link::clusters(&landings(&far), rows.width, distance);
        let mut counts = vec![0; n_exits];
        exit_of.iter().for_each(|exit| counts[*exit as usize] += 1);
        let recurs = |exit: &u32| counts[*exit as usize] >= MIN_LANDINGS;
        let kept = far.iter().zip(&exit_of).filter(|(_, exit)| recurs(exit)).map(|(row, _)| *row);
        let jump_rows: Vec<u32> = kept.collect();
        let (exit_of, n_exits) = link::clusters(&landings(&jump_rows), rows.width, distance);
        let (entry_of, n_entries) = link::clusters(&rows.select(&jump_rows), rows.width, distance);
        (self.jump_rows, self.entry_of, self.exit_of) = (jump_rows, entry_of, exit_of);
        (self.n_entries, self.n_exits) = (n_entries, n_exits);
    }

    /// Returns, for each of `n` landmarks, the number of rows with a next row, and the number of
    /// rows that jump. `cells` has the landmark of every row.
    pub fn visits(&self, cells: &[(u32, f32)], n: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut visits, mut jumped) = (vec![0.0; n], vec![0.0; n]);
        for (row, (landmark, _)) in cells.iter().enumerate() {
            visits[*landmark as usize] += f64::from(u8::from(self.has_step(row)));
        }
        self.jump_rows.iter().for_each(|&row| jumped[cells[row as usize].0 as usize] += 1.0);
        (visits, jumped)
    }

    /// Returns whether a row has a next row.
    pub fn has_step(&self, row: usize) -> bool {
        self.rows.last_rows[row] as usize > row
    }

    /// Returns the number of jumps from each region to each place, `[entries, exits]`.
    pub fn counts(&self) -> Vec<Vec<u32>> {
        let mut counts = vec![vec![0; self.n_exits]; self.n_entries];
        for (entry, exit) in self.entry_of.iter().zip(&self.exit_of) {
            counts[*entry as usize][*exit as usize] += 1;
        }
        counts
    }
}

/// Returns the length of the step from a row; `None` from the last row of an episode.
fn step_length(rows: &Rows, row: usize) -> Option<f32> {
    (rows.last_rows[row] as usize > row).then(|| apart(rows.row(row), rows.row(row + 1)))
}

/// Returns the mean length of the steps that are no breaks.
fn mean_step(rows: &Rows, breaks: &[bool]) -> f32 {
    let lengths = (0..rows.len()).filter_map(|row| step_length(rows, row).filter(|_| !breaks[row + 1]));
    let (sum, n) = lengths.fold((0.0, 0.0), |(sum, n), length| (sum + f64::from(length), n + 1.0));
    if n > 0.0 { (sum / n) as f32 } else { 0.0 }
}

/// Returns the value at a quantile; 0 without values.
fn quantile(values: &mut [f32], share: f64) -> f32 {
    at_quantile(values, share, f32::total_cmp).unwrap_or(0.0)
}

/// Returns the rows from which steps are far longer than the steps of rows nearby.
fn long_steps(rows: &Rows, seed: u64) -> Vec<u32> {
    let lengths: Vec<f32> = (0..rows.len()).map(|row| step_length(rows, row).unwrap_or(0.0)).collect();
    let with_step: Vec<u32> =
        (0..rows.len() as u32).filter(|&row| rows.last_rows[row as usize] > row).collect();
    let mut all: Vec<f32> = with_step.iter().map(|&row| lengths[row as usize]).collect();
    let (median, longest) = (quantile(&mut all, 0.5), quantile(&mut all, LONGEST));
    // States that mostly stay in place make any step look long.
    let mut moving: Vec<f32> = all.into_iter().filter(|length| *length > 0.0).collect();
    let shortest = quantile(&mut moving, 0.5).max(median);
    let is_candidate = |row: &&u32| lengths[**row as usize] > FACTOR * shortest.min(longest);
    let candidates: Vec<u32> = with_step.iter().filter(is_candidate).copied().collect();
    if candidates.is_empty() {
        return candidates;
    }
    let sampled = match with_step.len() <= SAMPLED_ROWS {
        true => with_step,
        false => {
            let mut random = rng::stream(seed, 2);
            (0..SAMPLED_ROWS).map(|_| with_step[rng::below(&mut random, with_step.len())]).collect()
        }
    };
    let points = Points::new(&rows.select(&sampled), rows.width);
    let k = NEIGHBORS.min(sampled.len());
    let typical = |some: &[u32], offset: u32| -> Vec<f32> {
        let mut near = Vec::with_capacity(some.len() * k);
        let places: Vec<u32> = some.iter().map(|row| row + offset).collect();
        points.nearest_few_of(&rows.select(&places), k, &mut near);
        let lengths_of = |near: &[(u32, f32)]| -> Vec<f32> {
            near.iter().map(|(point, _)| lengths[sampled[*point as usize] as usize]).collect()
        };
        near.chunks_exact(k).map(|near| quantile(&mut lengths_of(near), 0.5)).collect()
    };
    let long = |some: &[u32]| -> Vec<u32> {
        let (start, landing) = (typical(some, 0), typical(some, 1));
        let typical = start.into_iter().zip(landing).map(|(a, b)| a.max(b).max(shortest).min(longest));
        let is_long =
            |(row, typical): (&u32, f32)| (lengths[*row as usize] > FACTOR * typical).then_some(*row);
        some.iter().zip(typical).filter_map(is_long).collect()
    };
    candidates.par_chunks(PER_TASK).flat_map_iter(long).collect()
}

/// Returns the columns that change beyond their limits in a share of the steps.
fn jumping_columns(data: &Dataset, limits: &[f32], long: &[u32]) -> Vec<usize> {
    let mut counts = vec![0; limits.len()];
    for &row in long {
        let (from, to) = (data.state(u64::from(row)), data.state(u64::from(row) + 1));
        for column in 0..limits.len() {
            let change = (to[column] - from[column]).abs();
            counts[column] += usize::from(limits[column] > 0.0 && change > limits[column]);
        }
    }
    let min = (JUMPING_SHARE * long.len() as f64).max(1.0);
    (0..limits.len()).filter(|&column| counts[column] as f64 >= min).collect()
}
