//! Named matrices in one NumPy archive: what a program keeps to find again, and `numpy.load` can read.

use crate::{
    DataError, atomic,
    npy::{self, Rows},
    tables::Matrix,
};
use std::{
    fs::File,
    io::{BufReader, BufWriter, Read as _, Write as _},
    path::Path,
};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

const HINT: &str = "it is corrupt, or was made by something else; remove it";
/// Arrays that an archive may have.
const MAX_ARRAYS: usize = 64;

/// Writes matrices of float64 under their names, atomically.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, arrays: &[(&str, Matrix)]) -> Result<(), DataError> {
    let write = || -> std::io::Result<()> {
        let mut archive = ZipWriter::new(BufWriter::new(atomic::create(path)?));
        for (name, matrix) in arrays {
            // Not compressed: what is declared can then be compared with the size of the file.
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            let is_large = matrix.values.len() >= 1 << 29;
            archive.start_file(format!("{name}.npy"), options.large_file(is_large))?;
            let mut entry = BufWriter::new(&mut archive);
            let shape = [matrix.n_rows() as u64, matrix.width as u64];
            npy::write(&mut entry, &shape, &matrix.values)?;
            entry.flush()?;
        }
        let file = archive.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        atomic::commit(file, path)
    };
    write().map_err(DataError::write(path))
}

/// Reads all matrices of an archive, with their names. Their checksums are compared.
///
/// # Errors
/// If the file cannot be read, is not such an archive, or is corrupt.
pub fn read(path: &Path) -> Result<Vec<(String, Matrix)>, DataError> {
    let fail = |problem: String| DataError::malformed(path, problem, HINT);
    let file = File::open(path).map_err(DataError::read(path))?;
    let bytes = file.metadata().map_err(DataError::read(path))?.len();
    let mut archive = ZipArchive::new(BufReader::new(file))
        .map_err(|error| fail(format!("not an archive of arrays: {error}")))?;
    if archive.len() > MAX_ARRAYS {
        return Err(fail(format!("it has {} arrays, more than {MAX_ARRAYS}", archive.len())));
    }
    let mut arrays = Vec::new();
    for number in 0..archive.len() {
        let entry = archive.by_index(number).map_err(|error| fail(format!("array {number}: {error}")))?;
        let wrong = |problem: &dyn std::fmt::Display| fail(format!("array {number}: {problem}"));
        if entry.compression() != CompressionMethod::Stored || entry.size() > bytes {
            return Err(wrong(&"it is larger than the file"));
        }
        let name = entry.name().map_err(|error| wrong(&error))?.trim_end_matches(".npy").to_owned();
        // To its end, where the checksum is.
        let mut contents = Vec::with_capacity(entry.size() as usize);
        entry.take(bytes).read_to_end(&mut contents).map_err(|error| wrong(&error))?;
        let mut rows = Rows::open(&contents[..]).map_err(|problem| wrong(&problem))?;
        let declared = rows.rows.saturating_mul(rows.width as u64);
        if declared > contents.len() as u64 {
            return Err(wrong(&"it ends too early"));
        }
        let values = (0..declared).map(|_| rows.next_value()).collect::<std::io::Result<Vec<f64>>>();
        let values = values.map_err(|error| wrong(&error))?;
        arrays.push((name, Matrix { values, width: rows.width, names: Vec::new() }));
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_come_back_and_damage_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arrays.npz");
        let matrix = |values: &[f64], width| Matrix { values: values.to_vec(), width, names: Vec::new() };
        let arrays =
            [("a", matrix(&[1.0, 2.0, 3.0, 0.1], 2)), ("b", matrix(&[], 3)), ("c", matrix(&[7.0], 1))];
        write(&path, &arrays).unwrap();
        let found = read(&path).unwrap();
        assert_eq!(found.len(), 3);
        for ((name, matrix), (found_name, found)) in arrays.iter().zip(&found) {
            assert_eq!(
                (*name, &matrix.values, matrix.width),
                (found_name.as_str(), &found.values, found.width)
            );
        }
        let whole = std::fs::read(&path).unwrap();
        let mut noticed = 0;
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            std::fs::write(&path, &bytes).unwrap();
            // Dates and the like have no meaning; numbers that come back are those that were written.
            match read(&path) {
                Err(_) => noticed += 1,
                Ok(found) => {
                    assert!(found.iter().zip(&arrays).all(|(a, b)| a.1.values == b.1.values), "{at}");
                }
            }
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(read(&path).is_err(), "cut at {at}");
        }
        assert!(noticed > whole.len() / 3, "{noticed} of {}", whole.len());
    }
}
