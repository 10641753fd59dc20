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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tabular::{EventLog, LogColumns};
    use arrow_array::{
        ArrayRef, DictionaryArray, FixedSizeListArray, Float64Array, StringViewArray,
        TimestampMillisecondArray,
        types::{Float32Type, Int32Type},
    };
    use std::sync::Arc;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter(columns).unwrap()
    }

    /// A run of three states and one of two, in one batch that starts at a row.
    fn walks() -> RecordBatch {
        let rows = [0.0, 1.0, 2.0, 5.0, 4.0].map(|x| Some(vec![Some(x), Some(-x)]));
        batch(vec![
            ("run", Arc::new(StringViewArray::from(vec!["a", "a", "a", "b", "b"]))),
            ("state", Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, 2))),
        ])
    }

    #[test]
    fn a_table_in_memory_is_a_dataset_in_any_batches() {
        let (all, options) = (walks(), ReadOptions::default().episode("run").observations(["state"]));
        let data = Dataset::from_batches(&all.schema(), vec![all.clone()], &options).unwrap();
        assert_eq!((data.n_episodes(), data.n_transitions()), (2, 3));
        assert_eq!(data.episode(0).observations, [0.0, -0.0, 1.0, -1.0, 2.0, -2.0]);
        // Slices have offsets into the memory of the table.
        let slices = vec![all.slice(0, 2), all.slice(2, 2), all.slice(4, 1)];
        let sliced = Dataset::from_batches(&all.schema(), slices, &options).unwrap();
        assert_eq!(sliced.content_hash(), data.content_hash());
        let error = Dataset::from_batches(&all.schema(), vec![all.clone()], &options.episode("case"));
        assert_eq!(
            error.unwrap_err().to_string(),
            "table: no column 'case'; hint: its columns are run, state"
        );
    }

    #[test]
    fn categories_and_timestamps_are_read() {
        let categories: DictionaryArray<Int32Type> = ["b", "a", "b"].into_iter().collect();
        let table = batch(vec![
            ("episode", Arc::new(categories)),
            ("time", Arc::new(TimestampMillisecondArray::from(vec![0, 500, 1500]))),
            ("observations", Arc::new(Float64Array::from(vec![0.0, 7.0, 1.0]))),
        ]);
        let ordered = vec![table.slice(1, 1), table.slice(0, 1), table.slice(2, 1)];
        let data = Dataset::from_batches(&table.schema(), ordered, &ReadOptions::default());
        let error = data.unwrap_err().to_string();
        assert!(error.contains("episode 0"), "an episode of one state: {error}");
        let only_b = vec![table.slice(0, 1), table.slice(2, 1)];
        let data = Dataset::from_batches(&table.schema(), only_b, &ReadOptions::default()).unwrap();
        assert_eq!(data.episode(0).timestamps, [0.0, 1.5]);
    }

    #[test]
    fn an_event_log_in_memory_has_the_chain_of_the_file() {
        let log = batch(vec![
            ("case:concept:name", Arc::new(StringViewArray::from(vec!["1", "1", "2", "2"]))),
            ("concept:name", Arc::new(StringViewArray::from(vec!["order", "pay", "order", "pay"]))),
            ("time:timestamp", Arc::new(TimestampMillisecondArray::from(vec![0, 60_000, 0, 120_000]))),
        ]);
        let found = EventLog::from_batches(&log.schema(), &[log], &LogColumns::default()).unwrap();
        assert_eq!((found.n_cases, found.n_events, found.activities.len()), (2, 4, 2));
        assert_eq!(found.chain.mean_seconds(0, 1), 90.0);
    }
}
