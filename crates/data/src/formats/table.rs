//! Tables in memory: Arrow record batches of another library.

use super::{
    ReadOptions, cells,
    columns::{self, Table, TableColumn, Visit},
};
use crate::{DataError, Dataset, DatasetBuilder};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use std::path::Path;

/// What errors call a table in memory, which has no path.
const NAME: &str = "table";

struct Batches {
    batches: Vec<RecordBatch>,
    columns: Vec<TableColumn>,
}

impl Dataset {
    /// Reads a table in memory: record batches with a row for each state, and columns as in a
    /// Parquet file. The rows of an episode follow each other.
    ///
    /// # Errors
    /// If a column is missing or has an unsuitable type, or an episode is malformed.
    pub fn from_batches(
        schema: &Schema,
        batches: Vec<RecordBatch>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let mut columns = Vec::new();
        for (at, field) in schema.fields().iter().enumerate() {
            let first = || Ok(batches.iter().find_map(|batch| cells::first_length(batch.column(at))));
            columns.push(cells::column(field, first)?);
        }
        let mut builder = DatasetBuilder::default();
        columns::read(Path::new(NAME), &mut Batches { batches, columns }, options, &mut builder)?;
        Ok(builder.finish())
    }
}

impl Table for Batches {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn read(&mut self, chosen: &[usize], episodes: Option<usize>, rows: Visit<'_>) -> Result<(), DataError> {
        for batch in &self.batches {
            let columns =
                chosen.iter().map(|&at| (&self.columns[at], batch.column(at), Some(at) == episodes));
            let chunk = cells::chunk(batch.num_rows(), columns)
                .map_err(|problem| DataError::malformed(Path::new(NAME), problem, cells::HINT))?;
            rows(&chunk)?;
        }
        Ok(())
    }
}
