//! Files that another program would read as something else.

use crate::support::{alone, read, refused};
use isochrone_data::formats::{Format, ReadOptions, Writer};
use std::path::Path;

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
fn arrow_files_have_no_room_for_other_bytes() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.arrow");
    let mut writer = Writer::for_path(&path).unwrap();
    Format::Minari.read(&fixture("minari/goal-v0"), &ReadOptions::default(), &mut writer).unwrap();
    writer.finish().unwrap();
    let intact = std::fs::read(&path).unwrap();
    read(&path, &ReadOptions::default()).unwrap();
    let end = intact.len() - 10;
    let footer = end - u32::from_le_bytes(intact[end..end + 4].try_into().unwrap()) as usize;
    for (at, foreign) in [
        // Before and after the end marker: a script, more zeros than padding has, and a message.
        (footer, &b"#!/bin/sh\n# hidden commands\nexit 0"[..]),
        (footer - 8, &[0; 4096][..]),
        (footer - 8, &[0xff; 64][..]),
    ] {
        let bytes = [&intact[..at], foreign, &intact[at..]].concat();
        std::fs::write(&path, bytes).unwrap();
        let error = refused(read(&path, &ReadOptions::default()));
        assert!(error.contains("that belong to no column"), "{error}");
    }
}

#[test]
fn archives_begin_with_an_array() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let intact = std::fs::read(fixture("ogbench.npz")).unwrap();
    std::fs::write(&path, [&b"#!/bin/sh\nexit 0\n"[..], &intact].concat()).unwrap();
    let error = refused(read(&path, &ReadOptions::default()));
    assert!(error.contains("it has bytes before the archive"), "{error}");
}
