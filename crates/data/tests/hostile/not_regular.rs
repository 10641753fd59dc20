//! Pipes and devices in place of files.

use crate::support::{alone, refused, within_memory};
use isochrone_data::{
    DatasetBuilder, file_sha256,
    formats::{Format, ReadOptions},
    tables::{Matrix, NumberTable},
    tabular::{LogColumns, read_event_log, read_map, read_mdp_json, read_mdp_npz},
};
use std::{
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

const FORMATS: [(Format, &str); 6] = [
    (Format::Arrow, "arrow"),
    (Format::OgBench, "npz"),
    (Format::D4rl, "hdf5"),
    (Format::Minari, "h5"),
    (Format::Parquet, "parquet"),
    (Format::Csv, "csv"),
];

fn pipe(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn read(format: Format, path: &Path) -> String {
    refused(format.read(path, &ReadOptions::default(), &mut DatasetBuilder::default()))
}

/// Without the check, opening the pipe waits for ever.
#[test]
fn pipes_are_refused_by_every_reader() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for (format, extension) in FORMATS {
        let path = pipe(folder.path(), &format!("x.{extension}"));
        let error = refused(Format::detect(&path));
        assert!(error.contains("it is a pipe, not a regular file") && error.contains("<(...)"), "{error}");
        read(format, &path);
    }
    let path = pipe(folder.path(), "pipe.npy");
    let csv = folder.path().join("x.csv");
    for error in [
        refused(Matrix::read(&path)),
        refused(Matrix::read(&csv)),
        refused(NumberTable::read(&path)),
        refused(read_map(&path)),
        refused(read_mdp_json(&path)),
        refused(read_mdp_npz(&path)),
        refused(read_event_log(&path, &LogColumns::default())),
    ] {
        assert!(error.contains("it is a pipe") && error.contains("save what a pipe"), "{error}");
    }
    assert!(file_sha256(&path).is_err());
}

#[test]
fn endless_files_are_refused_by_every_reader() {
    let _alone = alone();
    for (format, extension) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("x.{extension}"));
        symlink("/dev/zero", &path).unwrap();
        within_memory(extension, || read(format, &path));
    }
    // Their length is 0, so a limit of what they declare does not help.
    let folder = tempfile::tempdir().unwrap();
    symlink("/dev/zero", folder.path().join("shards.json")).unwrap();
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/table.csv"),
        folder.path().join("a.csv"),
    )
    .unwrap();
    let error = within_memory("shards.json", || read(Format::Csv, folder.path()));
    assert!(error.contains("shards.json: it is a device"), "{error}");
    let minari = folder.path().join("minari");
    std::fs::create_dir(&minari).unwrap();
    let main =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/minari/goal-v0/data/main_data.hdf5");
    std::fs::copy(main, minari.join("main_data.hdf5")).unwrap();
    symlink("/dev/zero", minari.join("metadata.json")).unwrap();
    // The metadata are optional.
    let mut builder = DatasetBuilder::default();
    let read = || Format::Minari.read(&minari, &ReadOptions::default(), &mut builder);
    within_memory("metadata.json", read).unwrap();
}
