//! Rows of states, read from a unit onward.

use super::{Shard, Shards, Unit};
use crate::{
    DataError,
    formats::{
        cells,
        columns::{Names, TableColumn},
        parquet::ParquetTable,
    },
};
use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use std::{ops::Range, path::Path};

/// The maximum number of rows that are read at a time.
const BATCH_ROWS: u64 = 1 << 16;
/// The maximum size of the rows that are read at a time, uncompressed, unless a single row is
/// larger.
const BATCH_BYTES: u64 = 64 << 20;

/// The columns that hold states.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StateColumns {
    /// The columns of an observation, in this order; by default, those with common names.
    pub observations: Vec<String>,
    /// The column that identifies episodes; by default, one with a common name.
    pub episode: Option<String>,
    /// The number of values that a state must have.
    pub width: usize,
}

/// Consecutive rows of a dataset.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    /// The states, `[n, width]`. Missing values are NaN.
    pub states: Vec<f32>,
    /// The rows, counted from the first of these, at which an episode starts.
    pub starts: Vec<usize>,
}

/// Reads states from the first row of a unit to the end of the dataset, some rows at a time.
///
/// Consecutive rows with the same identifier belong to one episode, also across row groups and
/// shards.
pub struct RowReader<'a> {
    shards: &'a [Shard],
    columns: &'a StateColumns,
    /// The next shard to open, and its first row group to read.
    next: (usize, usize),
    open: Option<(ShardReader, Vec<usize>, usize, Batches)>,
    /// The episode of the row before.
    episode: Option<String>,
}

impl<'a> RowReader<'a> {
    /// Starts at the first row of a unit.
    pub fn new(shards: &'a Shards, columns: &'a StateColumns, unit: &Unit) -> Self {
        let next = (unit.shard, unit.groups.start);
        Self { shards: shards.shards(), columns, next, open: None, episode: None }
    }

    /// Returns the next rows; `None` at the end of the dataset.
    ///
    /// # Errors
    /// If a shard cannot be read, has no such columns, or states of another width.
    #[expect(clippy::should_implement_trait, reason = "an iterator of results would be read to its end")]
    pub fn next(&mut self) -> Result<Option<Rows>, DataError> {
        loop {
            if let Some((reader, observations, episode, batches)) = &mut self.open {
                if let Some(batch) = reader.next_batch(batches)? {
                    let chosen = reader.chosen(observations, Some(*episode));
                    let states = reader.vectors(&batch, &chosen, observations)?;
                    let ids = batch.column(place(&chosen, *episode));
                    let mut starts = reader.table.run(|| cells::changes(ids))?;
                    let id = |row: usize| cells::strings(&ids.slice(row, 1)).map(|mut one| one.pop());
                    let id = |row: usize| reader.table.run(|| id(row));
                    if batch.num_rows() > 0 {
                        if self.episode.is_some() && self.episode == id(0)? {
                            starts.remove(0);
                        }
                        self.episode = id(batch.num_rows() - 1)?;
                    }
                    return Ok(Some(Rows { states, starts }));
                }
                self.open = None;
            }
            let (shard, group) = self.next;
            let Some(source) = self.shards.get(shard) else { return Ok(None) };
            let reader = ShardReader::open(source)?;
            let observations = reader.observations(self.columns)?;
            let episode = reader.episode(self.columns)?;
            let batches = reader
                .batches(group..source.group_rows.len(), &reader.chosen(&observations, Some(episode)))?;
            self.open = Some((reader, observations, episode, batches));
            self.next = (shard + 1, 0);
        }
    }

    /// Returns the number of shards, from the first on, that were read so far.
    pub(super) fn shards_read(&self) -> usize {
        self.next.0
    }
}

/// Returns the position of a column in batches of the chosen columns, which are in order.
fn place(chosen: &[usize], column: usize) -> usize {
    chosen.binary_search(&column).expect("the column is one of the chosen")
}

/// An open shard.
pub(super) struct ShardReader {
    table: ParquetTable,
    batch_rows: usize,
    group_rows: Vec<u64>,
}

/// Batches of some row groups. The rows that a footer declares and those that its pages hold can
/// differ, and everything else relies on those that are declared.
pub(super) struct Batches {
    batches: ParquetRecordBatchReader,
    declared_rows: u64,
    rows: u64,
}

impl ShardReader {
    pub fn open(shard: &Shard) -> Result<Self, DataError> {
        let table = ParquetTable::open(&shard.path)?;
        let groups = table.metadata.metadata().row_groups();
        let bytes: u64 = groups.iter().map(|group| u64::try_from(group.total_byte_size()).unwrap_or(0)).sum();
        let row_bytes = bytes / shard.n_rows().max(1) + 1;
        let batch_rows = (BATCH_BYTES / row_bytes).clamp(1, BATCH_ROWS) as usize;
        Ok(Self { table, batch_rows, group_rows: shard.group_rows.clone() })
    }

    pub fn path(&self) -> &Path {
        &self.table.path
    }

    pub fn table(&self) -> &ParquetTable {
        &self.table
    }

    pub fn names(&self) -> Names<'_> {
        Names { path: self.path(), columns: &self.table.columns }
    }

    /// Returns the columns of an observation.
    pub fn observations(&self, columns: &StateColumns) -> Result<Vec<usize>, DataError> {
        let found = self.names().observations(&columns.observations)?;
        self.check_vector("observations", &found, columns.width)?;
        Ok(found)
    }

    /// Rejects columns that are not vectors of this width.
    pub fn check_vector(&self, what: &str, found: &[usize], width: usize) -> Result<(), DataError> {
        for &at in found {
            let column = &self.table.columns[at];
            if !column.is_number() {
                let problem = format!("column '{}' does not hold numbers", column.name);
                return Err(DataError::malformed(self.path(), problem, cells::HINT));
            }
        }
        let found_width = found.iter().map(|&at| self.table.columns[at].width).sum::<usize>();
        if found_width != width {
            let names: Vec<&str> = found.iter().map(|&at| self.table.columns[at].name.as_str()).collect();
            let problem = format!("{what} ({}) of {found_width} dimensions, not {width}", names.join(", "));
            let hint = "name the columns that make up a state of the distance";
            return Err(DataError::malformed(self.path(), problem, hint));
        }
        Ok(())
    }

    /// Returns the column that identifies episodes.
    pub fn episode(&self, columns: &StateColumns) -> Result<usize, DataError> {
        let found =
            self.names().episode(columns.episode.as_deref())?.ok_or_else(|| self.names().no_episode())?;
        let column = &self.table.columns[found];
        if column.problem.is_some() || column.width != 1 {
            let problem = format!("column '{}' does not identify episodes", column.name);
            return Err(DataError::malformed(self.path(), problem, "name a column of numbers or strings"));
        }
        Ok(found)
    }

    /// Returns the columns to read, in the order of the file.
    pub fn chosen(&self, vectors: &[usize], others: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut chosen: Vec<usize> = vectors.iter().copied().chain(others).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    pub fn batches(&self, groups: Range<usize>, chosen: &[usize]) -> Result<Batches, DataError> {
        let declared_rows = self.group_rows.iter().take(groups.end).skip(groups.start);
        let declared_rows = declared_rows.copied().fold(0, u64::saturating_add);
        let batches = self.table.batches_of(groups, chosen, self.batch_rows)?;
        Ok(Batches { batches, declared_rows, rows: 0 })
    }

    /// Returns the next batch; after the last, there were as many rows as the footer declares.
    pub fn next_batch(&self, from: &mut Batches) -> Result<Option<RecordBatch>, DataError> {
        let batch = self.table.next_batch(&mut from.batches)?;
        from.rows += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        let (declared, rows) = (from.declared_rows, from.rows);
        if rows > declared || (batch.is_none() && rows < declared) {
            let found = if rows > declared { "more" } else { "fewer" };
            let problem = format!("its footer declares {declared} rows, but its pages have {found} ({rows})");
            let hint = "the file is corrupt; write it again";
            return Err(DataError::malformed(self.path(), problem, hint));
        }
        Ok(batch)
    }

    /// Returns the vectors of a batch of the chosen columns, `[n, width]`.
    pub fn vectors(
        &self,
        batch: &RecordBatch,
        chosen: &[usize],
        columns: &[usize],
    ) -> Result<Vec<f32>, DataError> {
        let column = |&at: &usize| (self.column(at), batch.column(place(chosen, at)));
        self.table.run(|| cells::rows_f32(batch.num_rows(), columns.iter().map(column)))
    }

    fn column(&self, at: usize) -> &TableColumn {
        &self.table.columns[at]
    }
}
