//! Missing lists of a fixed size, which take no room in a file and much in memory.

use crate::support::{alone, read, refused, within_memory};
use arrow_array::{ArrayRef, FixedSizeBinaryArray, Int64Array, ListArray, RecordBatch, types::Float32Type};
use arrow_schema::{DataType, Field, Schema};
use isochrone_data::{
    formats::ReadOptions,
    shards::{AddColumns, Goals, Keep, Part, Shards, StateColumns},
    tables::NumberTable,
};
use parquet::{
    arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions, encode_arrow_schema},
    file::{metadata::KeyValue, properties::WriterProperties},
};
use std::{fs::File, path::Path, sync::Arc};

/// Writes columns of which the file declares that one has another type.
fn write(path: &Path, columns: Vec<(&str, ArrayRef)>, (at, kind): (usize, DataType)) {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    let mut fields: Vec<Field> = batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    fields[at] = fields[at].clone().with_data_type(kind);
    let schema = KeyValue::new("ARROW:schema".into(), encode_arrow_schema(&Schema::new(fields)));
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![schema])).build();
    let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new_with_options(file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn lists(rows: usize) -> ArrayRef {
    let missing = std::iter::repeat_n(None::<Vec<Option<f32>>>, rows);
    Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(missing))
}

fn fixed(width: i32) -> DataType {
    DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Float32, true)), width)
}

fn numbers(rows: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(0..rows))
}

#[test]
fn missing_lists_of_two_billion_numbers_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    for (rows, width) in [(1000, i32::MAX), (60_000, 65_536), (1000, 4_000_000)] {
        let columns =
            vec![("episode", numbers(rows)), ("obs_x", numbers(rows)), ("list", lists(rows as usize))];
        write(&path, columns, (2, fixed(width)));
        let bytes = 4 * i64::from(width);
        let expected = format!("column 'list' has {rows} values of {bytes} bytes");
        for error in [
            within_memory("dataset", || refused(read(&path, &ReadOptions::default()))),
            within_memory("shards", || refused(Shards::open(&path))),
        ] {
            assert!(error.contains(&expected), "{error}");
        }
        write(&path, vec![("list", lists(rows as usize))], (0, fixed(width)));
        let error = within_memory("table of numbers", || refused(NumberTable::read(&path)));
        assert!(error.contains(&expected), "{error}");
    }
}

/// A file that is large enough for all of its missing lists, but not for all of them at a time.
#[test]
fn missing_lists_are_read_in_small_batches() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let rows = 20_000;
    let columns = vec![("episode", numbers(rows)), ("obs_x", numbers(rows)), ("list", lists(rows as usize))];
    write(&path, columns, (2, fixed(10_000)));
    let shards = Shards::open(&path).unwrap();
    let states = StateColumns { observations: vec!["obs_x".into()], episode: None, width: 1 };
    let (goals, keep, names) = (Goals::Fixed, Keep::Named(vec!["list".into()]), vec!["new".into()]);
    let add = AddColumns { states, goals, keep, names, computed: "test".into() };
    let units = shards.units(Part::ALL);
    let output = folder.path().join("output");
    std::fs::create_dir(&output).unwrap();
    let mut compute = |states: &[f32], _: &[f32]| vec![states.to_vec()];
    within_memory("kept column", || add.write(&shards, &units[0], &output, &mut compute)).unwrap();
}

#[test]
fn missing_bytes_of_a_fixed_length_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let bytes =
        FixedSizeBinaryArray::try_from_sparse_iter_with_size([None::<&[u8]>; 3].into_iter(), 100_000_000);
    let columns: Vec<(&str, ArrayRef)> =
        vec![("episode", numbers(3)), ("obs_x", numbers(3)), ("image", Arc::new(bytes.unwrap()))];
    write(&path, columns, (2, DataType::FixedSizeBinary(100_000_000)));
    let error = within_memory("bytes", || refused(read(&path, &ReadOptions::default())));
    assert!(error.contains("column 'image' has 3 values of 100000000 bytes"), "{error}");
}
