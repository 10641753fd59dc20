//! The last states of the episodes of a unit.

use super::{RowReader, Shards, StateColumns, Unit};
use crate::DataError;

/// The last states of all episodes that have rows in a unit.
pub(super) struct LastStates {
    /// For every episode, the row after its last, counted from the first of the unit.
    ends: Vec<u64>,
    /// `[episodes, width]`
    states: Vec<f32>,
    /// The number of shards, from the first of the dataset on, that were read to find them, and one
    /// more if the end of the dataset was reached.
    pub shards_read: usize,
}

impl LastStates {
    /// Reads a unit, and from there on until its last episode ends.
    pub fn read(shards: &Shards, columns: &StateColumns, unit: &Unit) -> Result<Self, DataError> {
        let width = columns.width;
        let mut found = Self { ends: Vec::new(), states: Vec::new(), shards_read: unit.shard + 1 };
        if unit.rows == 0 {
            return Ok(found);
        }
        let mut reader = RowReader::new(shards, columns, unit);
        let (mut first, mut before) = (0, Vec::new());
        while let Some(rows) = reader.next()? {
            for &start in rows.starts.iter().filter(|&&start| first + start as u64 > 0) {
                let last =
                    if start == 0 { &before[..] } else { &rows.states[(start - 1) * width..][..width] };
                found.ends.push(first + start as u64);
                found.states.extend(last);
                if first + start as u64 >= unit.rows {
                    found.shards_read = reader.shards_read();
                    return Ok(found);
                }
            }
            if let Some(last) = rows.states.chunks_exact(width).next_back() {
                before = last.to_vec();
            }
            first += (rows.states.len() / width) as u64;
        }
        found.ends.push(first);
        found.states.extend(before);
        found.shards_read = reader.shards_read() + 1;
        Ok(found)
    }

    /// Returns the last state of the episode of each of `n` rows from `first` on, `[n, width]`.
    pub fn of_rows(&self, first: u64, n: usize, width: usize) -> Vec<f32> {
        let mut episode = self.ends.partition_point(|end| *end <= first);
        let mut states = Vec::with_capacity(n * width);
        for row in first..first + n as u64 {
            while self.ends.get(episode).is_some_and(|end| *end <= row) {
                episode += 1;
            }
            match self.states.get(episode * width..(episode + 1) * width) {
                Some(last) => states.extend(last),
                // A row after the last episode: there is none, unless the file changed meanwhile.
                None => states.resize(states.len() + width, f32::NAN),
            }
        }
        states
    }
}
