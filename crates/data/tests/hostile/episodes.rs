//! Millions of episodes in a small file.

use crate::{
    parquet_files::{pad, write_integers},
    support::{Tolerant, alone, refused, within_memory},
};
use isochrone_data::{
    DatasetBuilder,
    formats::{Format, ReadOptions},
    validate::validate,
};
use std::path::Path;

/// As many rows as 62 kB may declare.
const ROWS: i64 = 30_000_000;

#[test]
fn millions_of_episodes_of_one_row_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write_integers(&path, ROWS, &[("episode_index", |row| row), ("observation", |row| row)]);
    pad(&path, 60_000);
    let options = ReadOptions::default();
    let error = within_memory("sink", || refused(Format::Parquet.read(&path, &options, &mut Tolerant)));
    assert!(error.contains("episodes have a single state and no transition"), "{error}");
    let error = within_memory("validation", || refused(validate(&path, Format::Parquet, &options)));
    assert!(error.contains("100000 of its first 100000 episodes"), "{error}");
}

/// The identifiers are not consecutive, so that each has to be remembered.
#[test]
fn millions_of_identifiers_take_little_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let rows = 8_000_000;
    write_integers(&path, rows, &[("episode_index", |row| row / 2 * 3), ("observation", |row| row)]);
    pad(&path, 16_000);
    let options = ReadOptions::default();
    within_memory("4000000 identifiers", || Format::Parquet.read(&path, &options, &mut Tolerant)).unwrap();
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

#[test]
fn metadata_of_millions_of_episodes_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lerobot"), folder.path());
    let read = || {
        let mut builder = DatasetBuilder::default();
        Format::LeRobot.read(folder.path(), &ReadOptions::default(), &mut builder)
    };
    read().unwrap();
    let episodes = folder.path().join("meta/episodes/chunk-000/file-000.parquet");
    write_integers(&episodes, ROWS, &[("episode_index", |row| row), ("length", |row| row)]);
    pad(&episodes, 60_000);
    let error = within_memory("metadata", || refused(read()));
    assert!(error.contains("file-000.parquet: it lists 30000000 values in"), "{error}");
}
