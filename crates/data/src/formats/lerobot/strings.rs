//! Columns of a Parquet file with all their digits: strings, and integers as strings.

use super::super::{cells, parquet::ParquetTable};
use crate::DataError;
use std::path::Path;

/// Rows are converted to strings this many at a time.
const BATCH_ROWS: usize = 1024;

/// A Parquet file whose values are read as strings.
pub(super) struct TextTable {
    table: ParquetTable,
}

impl TextTable {
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let (metadata, columns) = (ParquetTable::load(path)?, Vec::new());
        Ok(Self { table: ParquetTable { path: path.into(), metadata, columns } })
    }

    /// Returns the number of a column, if the file has it.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.table.metadata.schema().fields().iter().position(|field| field.name() == name)
    }

    /// Returns all rows of some columns.
    pub fn read<const N: usize>(&self, columns: [usize; N]) -> Result<[Vec<String>; N], DataError> {
        let mut found = [const { Vec::new() }; N];
        let groups = 0..self.table.metadata.metadata().num_row_groups();
        let mut batches = self.table.batches_of(groups, &columns, BATCH_ROWS)?;
        // A batch has the chosen columns in the order of the file.
        let mut order: Vec<usize> = (0..N).collect();
        order.sort_by_key(|&at| columns[at]);
        while let Some(batch) = self.table.run(|| batches.next().transpose())? {
            for (&at, array) in order.iter().zip(batch.columns()) {
                found[at].extend(self.table.run(|| cells::strings(array))?);
            }
        }
        Ok(found)
    }
}
