//! The sample of rows that landmarks are chosen from.

use isochrone_core::rng;
use isochrone_data::{
    DataError, Dataset,
    shards::{Part, RowReader, Shards, StateColumns},
};

/// The maximum number of rows of a window; windows are sampled instead of rows, since the hop
/// metric needs consecutive rows.
const WINDOW_ROWS: usize = 1024;
/// The random stream of the sample; landmarks and hops use 0 and 1.
const STREAM: u64 = 2;

/// Some rows of a dataset.
pub(super) struct Sample {
    /// Windows of consecutive rows, as episodes.
    pub data: Dataset,
    /// For every window, the first row of the dataset.
    first_rows: Vec<u64>,
}

impl Sample {
    /// Reads all rows, and keeps all of them, or random windows with about `max_rows` rows. Windows
    /// end with episodes, and before values that are not finite.
    pub fn read(
        shards: &Shards,
        columns: &StateColumns,
        max_rows: u64,
        seed: u64,
    ) -> Result<Self, DataError> {
        let (width, total) = (columns.width, shards.n_rows());
        let keeps_all = total <= max_rows;
        let share = max_rows as f64 / total.max(1) as f64;
        let window_rows = if keeps_all { usize::MAX } else { WINDOW_ROWS };
        let mut random = rng::stream(seed, STREAM);
        let mut found = Windows { width, rows: Vec::new(), windows: Vec::new(), first_rows: Vec::new() };
        let Some(unit) = shards.units(Part::ALL).into_iter().next() else { return found.into_sample() };
        let mut reader = RowReader::new(shards, columns, &unit);
        let (mut first, mut is_kept) = (0, keeps_all);
        // The number of rows of the current window, kept or not.
        let mut length = 0;
        while let Some(rows) = reader.next()? {
            let mut starts = rows.starts.iter().copied().peekable();
            for (number, row) in rows.states.chunks_exact(width).enumerate() {
                let is_start = starts.next_if_eq(&number).is_some();
                let is_finite = row.iter().all(|value| value.is_finite());
                if is_start || length == window_rows || !is_finite {
                    found.close();
                    length = 0;
                    is_kept = keeps_all || rng::unit_f64(&mut random) < share;
                }
                if is_finite {
                    length += 1;
                    if is_kept {
                        found.push(first + number as u64, row);
                    }
                }
            }
            first += (rows.states.len() / width) as u64;
        }
        found.into_sample()
    }

    /// Returns the row of the dataset that is a row of the sample.
    pub fn row_of_dataset(&self, row: u32) -> u32 {
        let (window, row) = self.data.index().row_of_state(u64::from(row));
        // The dataset has fewer than 2^32 rows.
        (self.first_rows[window] + row as u64) as u32
    }
}

/// Windows that are collected.
struct Windows {
    width: usize,
    /// The rows of the current window.
    rows: Vec<f32>,
    windows: Vec<(Vec<f32>, Vec<f32>)>,
    first_rows: Vec<u64>,
}

impl Windows {
    fn push(&mut self, number: u64, row: &[f32]) {
        if self.rows.is_empty() {
            self.first_rows.push(number);
        }
        self.rows.extend(row);
    }

    /// Ends the current window. A window without a transition is dropped.
    fn close(&mut self) {
        match self.rows.len() {
            0 => {}
            length if length < 2 * self.width => {
                self.rows.clear();
                self.first_rows.pop();
            }
            _ => self.windows.push((std::mem::take(&mut self.rows), Vec::new())),
        }
    }

    fn into_sample(mut self) -> Result<Sample, DataError> {
        self.close();
        Ok(Sample { data: Dataset::from_arrays(self.width, 0, self.windows)?, first_rows: self.first_rows })
    }
}
