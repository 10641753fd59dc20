//! Tables of text with records without an end.

use crate::support::{alone, read, refused, within_memory};
use isochrone_data::{
    formats::ReadOptions,
    tables::Matrix,
    tabular::{LogColumns, read_event_log},
};
use std::{fs::File, io::Write as _, path::Path};

fn write(path: &Path, head: &str, repeated: &str, bytes: usize) {
    let mut file = File::create(path).unwrap();
    file.write_all(head.as_bytes()).unwrap();
    let block = repeated.repeat((1 << 20) / repeated.len());
    (0..bytes / block.len()).for_each(|_| file.write_all(block.as_bytes()).unwrap());
}

#[test]
fn records_without_an_end_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    // A line without an end, a quotation mark without a partner, and both in the first line.
    for (head, repeated) in
        [("episode,obs_x\n0,", "1"), ("episode,obs_x\n0,1\n0,\"", "1\n"), ("", "x"), ("episode,\"", "x\n")]
    {
        write(&path, head, repeated, 300 << 20);
        for error in [
            within_memory("dataset", || refused(read(&path, &ReadOptions::default()))),
            within_memory("matrix", || refused(Matrix::read(&path))),
        ] {
            assert!(error.contains("a record has more than 4 MiB"), "{head}: {error}");
        }
    }
    write(&path, "case,activity,timestamp\n1,\"", "a\n", 30 << 20);
    let error = within_memory("log", || refused(read_event_log(&path, &LogColumns::default())));
    assert!(error.contains("a record has more than 4 MiB"), "{error}");
}

#[test]
fn tables_of_millions_of_columns_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    write(&path, "episode,obs_x", ",", 3 << 20);
    let error = within_memory("dataset", || refused(read(&path, &ReadOptions::default())));
    assert!(error.contains("columns; up to 100000 can be read"), "{error}");
    let error = within_memory("log", || refused(read_event_log(&path, &LogColumns::default())));
    assert!(error.contains("columns; up to 100000 can be read"), "{error}");
}

#[test]
fn long_records_are_read() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let note = "x".repeat(1 << 20);
    let rows: Vec<String> = (0..20).map(|row| format!("0,{row},\"{note}\"\n")).collect();
    std::fs::write(&path, format!("episode,obs_x,note\n{}", rows.concat())).unwrap();
    let data = within_memory("long records", || read(&path, &ReadOptions::default())).unwrap();
    assert_eq!(data.n_transitions(), 19);
}
