//! Parquet tables: numbers, strings, and lists of numbers of the same length.

use super::{
    ReadOptions, cells,
    columns::{self, Table, TableColumn, Visit},
    fixed_sizes, parquet_footer, parquet_headers,
    parquet_limits::check_sizes,
};
use crate::{DataError, EpisodeSink, catch_panics::catch_panic, regular_file};
use arrow_array::RecordBatch;
use parquet::arrow::{
    ProjectionMask,
    arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder},
};
use std::{
    fmt::Display,
    ops::Range,
    path::{Path, PathBuf},
};

const CHUNK_ROWS: usize = 1024;
/// What to do about a file that the `parquet` crate cannot read.
const DAMAGED: &str = "the file is damaged, or not Parquet: copy it or write it again";
/// What to do about a compression that is not compiled in.
const COMPRESSION: &str = "write it with the compression zstd, snappy, gzip or none";

/// Reads a table.
pub fn read(path: &Path, options: &ReadOptions, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
    let mut table = ParquetTable::open(path)?;
    columns::read(path, &mut table, options, sink)
}

pub(crate) struct ParquetTable {
    pub path: PathBuf,
    pub metadata: ArrowReaderMetadata,
    /// All columns of the file, in its order.
    pub columns: Vec<TableColumn>,
}

impl ParquetTable {
    /// Reads the footer of a file, and checks the sizes that it declares.
    pub fn load(path: &Path) -> Result<ArrowReaderMetadata, DataError> {
        let fail = |problem: String| unreadable(path, &problem);
        let file = regular_file::open(path).map_err(DataError::read(path))?;
        let size = file.metadata().map_err(DataError::read(path))?.len();
        let metadata = parquet_footer::load(&file).map_err(fail)?;
        check_sizes(&metadata, size).map_err(fail)?;
        Ok(metadata)
    }

    pub fn open(path: &Path) -> Result<Self, DataError> {
        let metadata = Self::load(path)?;
        let mut table = Self { path: path.into(), metadata, columns: Vec::new() };
        let fields = table.metadata.schema().fields().clone();
        for (at, field) in fields.iter().enumerate() {
            let column = cells::column(field, || table.first_length(at))?;
            table.columns.push(column);
        }
        Ok(table)
    }

    /// Runs code that fails or panics on columns of another type.
    pub fn run<T, E: Display>(&self, run: impl FnOnce() -> Result<T, E>) -> Result<T, DataError> {
        catch_panic(run).map_err(|problem| DataError::malformed(&self.path, problem, cells::HINT))
    }

    /// Reads from the file, which fails or panics if it is damaged.
    fn read_damaged<T, E: Display>(&self, read: impl FnOnce() -> Result<T, E>) -> Result<T, DataError> {
        catch_panic(read).map_err(|problem| unreadable(&self.path, &problem))
    }

    /// Returns the next of [`batches_of`](Self::batches_of).
    pub fn next_batch(
        &self,
        batches: &mut ParquetRecordBatchReader,
    ) -> Result<Option<RecordBatch>, DataError> {
        self.read_damaged(|| batches.next().transpose())
    }

    /// Returns batches of the chosen columns, in the order of the file.
    fn batches(&self, chosen: &[usize]) -> Result<ParquetRecordBatchReader, DataError> {
        let groups = 0..self.metadata.metadata().num_row_groups();
        self.batches_of(groups, chosen, CHUNK_ROWS)
    }

    /// Returns batches of the chosen columns of some row groups, in the order of the file.
    pub fn batches_of(
        &self,
        groups: Range<usize>,
        chosen: &[usize],
        batch_rows: usize,
    ) -> Result<ParquetRecordBatchReader, DataError> {
        let file = regular_file::open(&self.path).map_err(DataError::read(&self.path))?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), chosen.iter().copied());
        let is_chosen = |leaf: usize| mask.leaf_included(leaf);
        self.read_damaged(|| {
            parquet_headers::check_pages(&mut &file, &self.metadata, groups.clone(), is_chosen)
        })?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let builder = builder.with_row_groups(groups.collect()).with_projection(mask);
        let batch_rows = fixed_sizes::batch_rows(&self.metadata, chosen, batch_rows);
        self.read_damaged(|| builder.with_batch_size(batch_rows).build())
    }

    /// Returns the length of a column's first list that is not missing; lists of other lengths are
    /// detected when they are read.
    fn first_length(&self, at: usize) -> Result<Option<usize>, DataError> {
        let mut batches = self.batches(&[at])?;
        let Some(batch) = self.next_batch(&mut batches)? else { return Ok(None) };
        Ok(cells::first_length(batch.column(0)))
    }
}

/// The error of a file that the `parquet` crate cannot read.
pub(crate) fn unreadable(path: &Path, problem: &str) -> DataError {
    let hint = if problem.contains("Disabled feature") { COMPRESSION } else { DAMAGED };
    // The crate wraps its errors in one another.
    let problem = problem.replace("Parquet argument error: ", "").replace("Parquet error: ", "");
    DataError::malformed(path, problem, hint)
}

impl Table for ParquetTable {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn read(&mut self, chosen: &[usize], episodes: Option<usize>, rows: Visit<'_>) -> Result<(), DataError> {
        let mut batches = self.batches(chosen)?;
        while let Some(batch) = self.next_batch(&mut batches)? {
            // The reader and the chosen columns both keep the order of the file.
            let columns = chosen.iter().zip(batch.columns());
            let columns = columns.map(|(&at, array)| (&self.columns[at], array, Some(at) == episodes));
            let chunk = self.run(|| cells::chunk(batch.num_rows(), columns))?;
            rows(&chunk)?;
        }
        Ok(())
    }
}
