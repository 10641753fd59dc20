//! Footers that declare other numbers of rows than the pages have.

use crate::support::{alone, refused};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use isochrone_data::shards::{AddColumns, Goals, Keep, Part, RowReader, Shards, StateColumns, Unit};
use parquet::{
    arrow::ArrowWriter,
    file::properties::{EnabledStatistics, WriterProperties},
};
use std::{path::Path, sync::Arc};

const ROWS: u8 = 10;

/// Writes ten rows of which the footer declares another number.
fn write(path: &Path, declared: u8) {
    let numbers = |divisor: i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..i64::from(ROWS)).map(|row| row / divisor)))
    };
    let batch = RecordBatch::try_from_iter([("episode", numbers(5)), ("obs_x", numbers(1))]).unwrap();
    let properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let mut bytes = writer.into_inner().unwrap();
    let end = bytes.len() - 8;
    let footer = end - u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    // The number of rows of the row group is its field 3, after the size in bytes, field 2; that of
    // the file is field 3 before the list of row groups.
    let mut patched = 0;
    for at in footer..end - 1 {
        if bytes[at..at + 2] == [0x16, 2 * ROWS] {
            bytes[at + 1] = 2 * declared;
            patched += 1;
        }
    }
    assert!(patched >= 2, "{patched}");
    std::fs::write(path, bytes).unwrap();
}

fn open(path: &Path) -> (Shards, StateColumns, Unit) {
    let shards = Shards::open(path).unwrap();
    let unit = shards.units(Part::ALL).remove(0);
    (shards, StateColumns { width: 1, ..StateColumns::default() }, unit)
}

fn read(path: &Path) -> Result<usize, isochrone_data::DataError> {
    let (shards, columns, unit) = open(path);
    let (mut reader, mut rows) = (RowReader::new(&shards, &columns, &unit), 0);
    while let Some(found) = reader.next()? {
        rows += found.states.len();
    }
    Ok(rows)
}

#[test]
fn other_numbers_of_rows_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write(&path, ROWS);
    assert_eq!(read(&path).unwrap(), 10);
    for declared in [4, 60] {
        write(&path, declared);
        let expected = format!("its footer declares {declared} rows, but its pages have");
        let error = refused(read(&path));
        assert!(error.contains(&expected), "{error}");
        let (shards, states, unit) = open(&path);
        let (goals, keep, names) = (Goals::LastState, Keep::All, vec!["new".into()]);
        let add = AddColumns { states, goals, keep, names, computed: "test".into() };
        let mut compute = |states: &[f32], _: &[f32]| vec![states.to_vec()];
        let output = folder.path().join(format!("output-{declared}"));
        std::fs::create_dir(&output).unwrap();
        let error = refused(add.write(&shards, &unit, &output, &mut compute));
        assert!(error.contains(&expected), "{error}");
    }
}
