//! Archives of arrays that hold nothing but their entries.

use std::io::{Read, Seek, SeekFrom};
use zip::ZipArchive;

/// What every entry begins with.
const ENTRY: &[u8; 4] = b"PK\x03\x04";

/// Opens an archive. Refuses bytes before the first entry, with which a file could be read as
/// something else by another program, and entries that share bytes, with which a small file could
/// hold the same large array many times.
pub(crate) fn open<R: Read + Seek>(mut reader: R) -> Result<ZipArchive<R>, String> {
    let describe = |error: &dyn std::fmt::Display| format!("not an npz archive: {error}");
    let mut first = [0; ENTRY.len()];
    reader.read_exact(&mut first).map_err(|_| describe(&"it is too short"))?;
    reader.seek(SeekFrom::Start(0)).map_err(|error| describe(&error))?;
    let mut archive = ZipArchive::new(reader).map_err(|error| describe(&error))?;
    if archive.offset() != 0 || (&first != ENTRY && !archive.is_empty()) {
        return Err("it has bytes before the archive".into());
    }
    match archive.has_overlapping_files() {
        Ok(false) => Ok(archive),
        Ok(true) => Err("its arrays overlap".into()),
        Err(error) => Err(describe(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write as _};
    use zip::{ZipWriter, write::SimpleFileOptions};

    fn archive() -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["a", "b"] {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
            writer.write_all(b"numbers").unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn bytes_before_an_archive_are_refused() {
        assert_eq!(open(Cursor::new(archive())).unwrap().len(), 2);
        // What another program would see: a script, or another archive.
        for prefix in [&b"#!/bin/sh\n"[..], &archive()] {
            let error = open(Cursor::new([prefix, &archive()].concat())).unwrap_err();
            assert_eq!(error, "it has bytes before the archive");
        }
        assert!(open(Cursor::new(b"PK".to_vec())).unwrap_err().contains("too short"));
    }

    #[test]
    fn entries_that_share_bytes_are_refused() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file("a", SimpleFileOptions::default()).unwrap();
        writer.write_all(b"numbers").unwrap();
        writer.shallow_copy_file("a", "b").unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        assert_eq!(open(Cursor::new(bytes)).unwrap_err(), "its arrays overlap");
    }
}
