//! All rows of a dataset in coordinates in which Euclidean distances are hops in steps.

use isochrone_data::{Dataset, EpisodeIndex};
use std::ops::Range;

/// The states of all episodes, one after another.
pub(crate) struct Rows {
    /// The number of values in a row.
    pub width: usize,
    /// `[n, width]`
    pub values: Vec<f32>,
    /// For every row, the last row of its episode.
    pub last_rows: Vec<u32>,
}

impl Rows {
    /// Projects all observations. `project` appends `width` values for each row of an episode.
    pub fn new(data: &Dataset, width: usize, project: impl Fn(&[f32], &mut Vec<f32>)) -> Self {
        let n = data.index().n_states() as usize;
        let mut rows =
            Self { width, values: Vec::with_capacity(n * width), last_rows: Vec::with_capacity(n) };
        for episode in 0..data.n_episodes() {
            let states = states(data.index(), episode);
            project(data.episode(episode).observations, &mut rows.values);
            rows.last_rows.resize(states.end, states.end as u32 - 1);
        }
        rows
    }

    pub fn len(&self) -> usize {
        self.last_rows.len()
    }

    /// Returns the selected rows, `[n, width]`.
    pub fn select(&self, rows: &[u32]) -> Vec<f32> {
        rows.iter().flat_map(|&row| self.row(row as usize)).copied().collect()
    }

    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }
}

/// Returns the rows of an episode.
pub(crate) fn states(index: &EpisodeIndex, episode: usize) -> Range<usize> {
    let states = index.states(episode);
    states.start as usize..states.end as usize
}

/// Returns the Euclidean distance between two rows.
#[inline(always)]
pub(crate) fn apart(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| (left - right) * (left - right)).sum::<f32>().sqrt()
}
