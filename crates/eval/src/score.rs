//! Distances for every row of a Parquet dataset of any size.
//!
//! A dataset is divided into units of about a million rows, and units into parts: each part is a
//! job, on any machine that sees the files. The file of a unit does not depend on the number of
//! parts, is written atomically, and is skipped if it is complete, so that a job that was killed is
//! started again with the same arguments.
//!
//! ```
//! use isochrone_core::{Discount, TemporalDistance};
//! use isochrone_data::{shards::{Part, Shards}, tables::{Column, write_parquet}};
//! use isochrone_eval::score::{Scoring, ScoreGoal};
//!
//! /// One step per unit of length.
//! struct Line;
//!
//! impl TemporalDistance for Line {
//!     fn width(&self) -> usize { 1 }
//!     fn discount(&self) -> Discount { Discount::new((-1.0f64).exp()).unwrap() }
//!     fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
//!         from.iter().zip(to).map(|(from, to)| (to - from).abs()).collect()
//!     }
//!     fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
//!         from.iter().flat_map(|from| to.iter().map(move |to| (to - from).abs())).collect()
//!     }
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let columns = [("obs", Column::Numbers(vec![0.0, 1.0, 5.0])), ("episode", Column::Numbers(vec![0.0; 3]))];
//! write_parquet(&folder.path().join("walk.parquet"), &columns)?;
//!
//! let shards = Shards::open(&folder.path().join("walk.parquet"))?;
//! let scoring = Scoring::new(&Line, "line", ScoreGoal::LastState);
//! let done = scoring.run(&shards, Part::ALL, &folder.path().join("scored"), |_| {})?;
//! assert_eq!((done.rows, done.skipped_rows), (3, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use isochrone_core::TemporalDistance;
use isochrone_data::{
    DataError,
    shards::{AddColumns, Goals, Keep, Part, Shards, StateColumns, Written},
};
use std::path::Path;

/// The new column with the distance in steps.
pub const STEPS: &str = "distance_steps";
/// The new column with the distance in seconds, if the frame rate is known.
pub const SECONDS: &str = "distance_seconds";
/// The maximum number of distances to states of a set that are held in memory at a time.
const MAX_HELD: usize = 1 << 22;

/// The goal of each row.
pub enum ScoreGoal<'a> {
    /// The same goal for all rows: the nearest of these states, `[n, width]`.
    Nearest(Vec<f32>),
    /// The same goal for all rows: steps from each row of `[n, width]` to it.
    Steps(&'a dyn Fn(&[f32]) -> Vec<f64>),
    /// The columns of a goal, in this order.
    Columns(Vec<String>),
    /// The last state of the row's episode.
    LastState,
}

/// Computes the distance of every row of a dataset to a goal.
pub struct Scoring<'a> {
    /// The distance.
    pub distance: &'a dyn TemporalDistance,
    /// Identifies the distance and, unless they are in the data, the goals, such as a hash of the
    /// model. Files that were written with another key are not continued.
    pub key: String,
    /// The goal of each row.
    pub goal: ScoreGoal<'a>,
    /// The columns of an observation, in this order; by default, those with common names.
    pub observations: Vec<String>,
    /// The column that identifies episodes; by default, one with a common name.
    pub episode: Option<String>,
    /// The columns of the data that are kept.
    pub keep: Keep,
    /// The number of states per second, to write seconds as well.
    pub frames_per_second: Option<f64>,
}

/// What was done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scored {
    /// The number of units of the part.
    pub units: usize,
    /// The number of units that were complete already.
    pub skipped_units: usize,
    /// The number of rows of these units.
    pub rows: u64,
    /// The number of rows of the units that were complete already.
    pub skipped_rows: u64,
}

impl<'a> Scoring<'a> {
    /// Creates a scoring that finds columns by common names, keeps all columns, and writes steps.
    pub fn new(distance: &'a dyn TemporalDistance, key: impl Into<String>, goal: ScoreGoal<'a>) -> Self {
        let (observations, episode) = (Vec::new(), None);
        let (keep, frames_per_second) = (Keep::All, None);
        Self { distance, key: key.into(), goal, observations, episode, keep, frames_per_second }
    }

    /// Writes all units of a part to a folder: files with the names of the shards, or several for a
    /// large shard. Calls `progress` after each unit.
    ///
    /// # Errors
    /// If a shard cannot be read or has other columns, a file cannot be written, or the folder has
    /// a file that was computed from something else.
    ///
    /// # Panics
    /// If the states of [`ScoreGoal::Nearest`] do not have the width of the distance.
    pub fn run(
        &self,
        shards: &Shards,
        part: Part,
        folder: &Path,
        mut progress: impl FnMut(Scored),
    ) -> Result<Scored, DataError> {
        let (units, columns) = (shards.units(part), self.columns());
        columns.prepare(shards, &units, folder)?;
        let mut scored = Scored::default();
        for unit in &units {
            let written = columns.write(shards, unit, folder, &mut |from, goals| self.values(from, goals))?;
            scored.units += 1;
            scored.rows += unit.rows;
            if written == Written::Skipped {
                scored.skipped_units += 1;
                scored.skipped_rows += unit.rows;
            }
            progress(scored);
        }
        Ok(scored)
    }

    fn columns(&self) -> AddColumns {
        let names = std::iter::once(STEPS).chain(self.frames_per_second.map(|_| SECONDS));
        let goals = match &self.goal {
            ScoreGoal::Nearest(_) | ScoreGoal::Steps(_) => Goals::Fixed,
            ScoreGoal::Columns(names) => Goals::Columns(names.clone()),
            ScoreGoal::LastState => Goals::LastState,
        };
        let (observations, episode) = (self.observations.clone(), self.episode.clone());
        let rate = self.frames_per_second.map(|rate| format!(", {rate} states per second"));
        AddColumns {
            states: StateColumns { observations, episode, width: self.distance.width() },
            goals,
            keep: self.keep.clone(),
            names: names.map(str::to_owned).collect(),
            computed: format!("{}{}", self.key, rate.unwrap_or_default()),
        }
    }

    /// Returns the new columns for rows of states and goals.
    fn values(&self, from: &[f32], goals: &[f32]) -> Vec<Vec<f32>> {
        let steps = match &self.goal {
            ScoreGoal::Nearest(states) => to_nearest(self.distance, from, states),
            ScoreGoal::Steps(steps) => steps(from),
            ScoreGoal::Columns(_) | ScoreGoal::LastState => {
                self.distance.paired_steps(from, goals).expect("rows have the width of the distance")
            }
        };
        let column = |unit: f64| steps.iter().map(|steps| (steps / unit) as f32).collect();
        std::iter::once(1.0).chain(self.frames_per_second).map(column).collect()
    }
}

/// Returns the steps from each row of `from` to the nearest of the states; infinite if there is
/// none.
fn to_nearest(distance: &dyn TemporalDistance, from: &[f32], states: &[f32]) -> Vec<f64> {
    let (width, n_states) = (distance.width(), states.len() / distance.width());
    let at_once = (MAX_HELD / n_states.max(1)).max(1);
    let mut steps = Vec::with_capacity(from.len() / width);
    for rows in from.chunks(at_once * width) {
        let found = distance.all_pairs_steps(rows, states).expect("states have the width of the distance");
        match n_states {
            0 => steps.resize(steps.len() + rows.len() / width, f64::INFINITY),
            1 => steps.extend(found),
            _ => steps.extend(
                found.chunks_exact(n_states).map(|row| row.iter().copied().fold(f64::INFINITY, f64::min)),
            ),
        }
    }
    steps
}
