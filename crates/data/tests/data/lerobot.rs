//! LeRobot datasets: what their metadata add to the frames.

use crate::support::{read, write};
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Int64Array, RecordBatch, StringArray,
    types::Float32Type,
};
use isochrone_data::{
    Dataset,
    formats::{Extras, ReadOptions, lerobot::FrameNumbers},
};
use parquet::arrow::ArrowWriter;
use serde_json::json;
use std::{fs, path::Path, sync::Arc};

type Columns = Vec<(&'static str, ArrayRef)>;

/// Writes a Parquet table.
fn parquet(path: &Path, columns: Columns) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// The index of the first frame: float32 cannot represent all integers from here on.
const FIRST: i64 = 1 << 24;

/// Returns the columns of three episodes of three frames; the first two are of task 1.
fn frames() -> Columns {
    let of =
        |value: fn(i64) -> i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values((0..9).map(value))) };
    let states = (0..9).map(|frame| Some(vec![Some(frame as f32), Some(-frame as f32)]));
    vec![
        (
            "observation.state",
            Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(states, 2)),
        ),
        (
            "timestamp",
            Arc::new(Float32Array::from_iter_values((0..9).map(|frame| (frame % 3) as f32 / 10.0))),
        ),
        ("frame_index", of(|frame| frame % 3)),
        ("episode_index", of(|frame| frame / 3)),
        ("index", of(|frame| FIRST + frame)),
        ("task_index", of(|frame| i64::from(frame < 6))),
    ]
}

/// Returns the success flags of the frames: the first and the last episode succeed at the end.
fn successes() -> (&'static str, ArrayRef) {
    (
        "next.success",
        Arc::new(BooleanArray::from((0..9).map(|frame| frame == 2 || frame == 8).collect::<Vec<_>>())),
    )
}

/// Writes a dataset of one file.
fn dataset(root: &Path, frames: Columns) {
    parquet(&root.join("data/chunk-000/file-000.parquet"), frames);
    fs::create_dir_all(root.join("meta")).unwrap();
    let names = json!({"observation.state": {"dtype": "float32", "shape": [2], "names": ["arm", "gripper"]}});
    let info = json!({"codebase_version": "v3.0", "fps": 10, "total_episodes": 3, "total_frames": 9, "features": names});
    fs::write(root.join("meta/info.json"), info.to_string()).unwrap();
}

fn tasks(root: &Path) {
    let names: ArrayRef = Arc::new(StringArray::from(vec!["open the drawer", "close the drawer"]));
    // The order of rows is not that of the numbers.
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 0]));
    parquet(&root.join("meta/tasks.parquet"), vec![("task_index", numbers), ("task", names)]);
}

fn load(root: &Path) -> Dataset {
    read(root, &ReadOptions::default()).unwrap()
}

#[test]
fn tasks_and_successes_are_labels_of_episodes() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames().into_iter().chain([successes()]).collect());
    tasks(folder.path());
    let data = load(folder.path());
    let labels = data.labels();
    assert_eq!(labels.tasks, ["close the drawer", "open the drawer"]);
    assert_eq!(labels.task, [1, 1, 0]);
    assert_eq!(labels.success, [Some(true), Some(false), Some(true)]);

    let converted = folder.path().join("converted.arrow");
    write(&data, &converted);
    let mapped = Dataset::load(&converted, ReadOptions::default()).unwrap();
    assert_eq!(mapped.spec(), data.spec());
    assert_eq!(mapped.labels(), labels);
}

#[test]
fn tasks_of_version_2_are_lines_of_json() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    let lines = "{\"task_index\": 0, \"task\": \"push\"}\n\n{\"task_index\": 1, \"task\": \"pull\"}\n";
    fs::write(folder.path().join("meta/tasks.jsonl"), lines).unwrap();
    let labels = load(folder.path()).labels();
    assert_eq!((labels.tasks, labels.success), (vec!["push".into(), "pull".into()], vec![None; 3]));

    fs::write(folder.path().join("meta/tasks.jsonl"), "{\"task_index\": 123456789012, \"task\": \"push\"}")
        .unwrap();
    let error = read(folder.path(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("task_index '123456789012' is not a number below 65536"), "{error}");
}

#[test]
fn datasets_without_names_of_tasks_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    let without = load(folder.path());
    assert!(without.spec().extras.is_empty() && without.spec().tasks.is_empty());
    assert!(!serde_json::to_string(without.spec()).unwrap().contains("tasks"));
    tasks(folder.path());
    let with = load(folder.path());
    assert_eq!(with.spec().tasks.len(), 2);
    assert_eq!(with.content_hash(), without.content_hash());
    let options = ReadOptions::default().extras(Extras::Named(Vec::new()));
    assert_eq!(read(folder.path(), &options).unwrap().spec(), without.spec());
}

#[test]
fn numbers_of_frames_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    let numbers = FrameNumbers::read(folder.path()).unwrap();
    assert_eq!(numbers.index, (FIRST..FIRST + 9).collect::<Vec<_>>());
    assert_eq!(numbers.episode_index, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    assert_eq!(numbers.frame_index, [0, 1, 2, 0, 1, 2, 0, 1, 2]);

    dataset(folder.path(), frames().into_iter().filter(|(name, _)| *name != "index").collect());
    let error = FrameNumbers::read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("file-000.parquet: no column 'index'"), "{error}");
}
