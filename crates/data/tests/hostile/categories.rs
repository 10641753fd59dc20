//! Categories without a single value.

use crate::support::{alone, refused};
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use isochrone_data::{
    Dataset,
    formats::{Format, ReadOptions},
    shards::{Part, RowReader, Shards, StateColumns},
    tabular::{EventLog, LogColumns},
};
use parquet::arrow::ArrowWriter;
use std::{fs::File, sync::Arc};

/// Returns a column of missing categories, as of `pd.Categorical([None, None, None])`.
fn missing(rows: usize) -> ArrayRef {
    let keys = Int32Array::from(vec![None; rows]);
    Arc::new(DictionaryArray::new(keys, Arc::new(StringArray::from(Vec::<&str>::new()))))
}

fn table(rows: usize) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let columns = [("episode", missing(rows)), ("obs_x", numbers)];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
}

#[test]
fn missing_categories_are_empty_texts() {
    let _alone = alone();
    let table = table(3);
    let data = Dataset::from_batches(&table.schema(), vec![table.clone()], &ReadOptions::default()).unwrap();
    assert_eq!((data.n_episodes(), data.n_transitions()), (1, 2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let mut builder = isochrone_data::DatasetBuilder::default();
    Format::Parquet.read(&path, &ReadOptions::default(), &mut builder).unwrap();
    assert_eq!(builder.finish().content_hash(), data.content_hash());
    let shards = Shards::open(&path).unwrap();
    let columns = StateColumns { width: 1, ..StateColumns::default() };
    let unit = &shards.units(Part::ALL)[0];
    let rows = RowReader::new(&shards, &columns, unit).next().unwrap().unwrap();
    assert_eq!((rows.states, rows.starts), (vec![0.0, 1.0, 2.0], vec![0]));
}

#[test]
fn empty_tables_and_logs_are_errors() {
    let _alone = alone();
    let table = table(0);
    let data = Dataset::from_batches(&table.schema(), vec![table.clone()], &ReadOptions::default());
    assert_eq!(data.unwrap().n_episodes(), 0);
    let log = RecordBatch::try_from_iter_with_nullable([
        ("case", missing(2), true),
        ("activity", missing(2), true),
        ("timestamp", missing(2), true),
    ])
    .unwrap();
    let error = refused(EventLog::from_batches(&log.schema(), &[log], &LogColumns::default()));
    assert!(error.contains("row 0: the case or the activity is missing"), "{error}");
}
