//! NumPy archives with valid checksums, which a mutation of the archive itself almost never has.

use std::io::{Cursor, Read as _, Write as _};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Returns an archive of arrays that follow each other in `pieces`: the next name belongs to each
/// beginning of an array.
pub fn npz(names: &[&str], pieces: &[u8]) -> Vec<u8> {
    let mut starts: Vec<usize> =
        pieces.windows(MAGIC.len()).enumerate().filter(|(_, w)| *w == MAGIC).map(|(at, _)| at).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    starts.truncate(names.len());
    let ends = starts[1..].iter().copied().chain([pieces.len()]);
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut writer = ZipWriter::new(Cursor::new(Vec::with_capacity(2 * pieces.len() + 1024)));
    for ((&start, end), name) in starts.iter().zip(ends).zip(names) {
        writer.start_file(format!("{name}.npy"), options).unwrap();
        writer.write_all(&pieces[start..end]).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns the arrays of an archive one after another, in the order of `names`.
pub fn npz_pieces(names: &[&str], archive: &[u8]) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut pieces = Vec::new();
    for name in names {
        if let Ok(mut entry) = archive.by_name(&format!("{name}.npy")) {
            entry.read_to_end(&mut pieces).unwrap();
        }
    }
    pieces
}
