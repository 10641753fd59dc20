//! Named matrices in one `.npz` archive, which `numpy.load` can read.

use crate::{
    DataError, atomic,
    fused::Fused,
    npy::{self, Rows},
    regular_file,
    tables::Matrix,
    zip_archive,
};
use std::{
    io::{BufReader, BufWriter, Read as _, Write as _},
    path::Path,
};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

const HINT: &str = "the file is corrupt or was not written by isochrone; remove it";
/// The maximum number of arrays in an archive.
const MAX_ARRAYS: usize = 64;

/// Writes named float64 matrices atomically.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(path: &Path, arrays: &[(&str, Matrix)]) -> Result<(), DataError> {
    let write = || -> std::io::Result<()> {
        let mut archive = ZipWriter::new(BufWriter::new(Fused::new(atomic::create(path)?)));
        for (name, matrix) in arrays {
            // Stored uncompressed, so that a declared size can be checked against the size of the
            // file.
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            let is_large = matrix.values.len() >= 1 << 29;
            archive.start_file(format!("{name}.npy"), options.large_file(is_large))?;
            let mut entry = BufWriter::new(&mut archive);
            let shape = [matrix.n_rows() as u64, matrix.width as u64];
            npy::write(&mut entry, &shape, &matrix.values)?;
            entry.flush()?;
        }
        let file = archive.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        atomic::commit(file.into_inner()?, path)
    };
    write().map_err(DataError::write(path))
}

/// Reads all matrices of an archive with their names, and verifies their checksums.
///
/// # Errors
/// Returns an error if the file cannot be read, is not such an archive, or is corrupt.
pub fn read(path: &Path) -> Result<Vec<(String, Matrix)>, DataError> {
    let fail = |problem: String| DataError::malformed(path, problem, HINT);
    let file = regular_file::open(path).map_err(DataError::read(path))?;
    let bytes = file.metadata().map_err(DataError::read(path))?.len();
    let mut archive = zip_archive::open(BufReader::new(file)).map_err(fail)?;
    if archive.len() > MAX_ARRAYS {
        return Err(fail(format!("it has {} arrays, more than {MAX_ARRAYS}", archive.len())));
    }
    let mut arrays = Vec::new();
    for number in 0..archive.len() {
        let entry = archive.by_index(number).map_err(|error| fail(format!("array {number}: {error}")))?;
        let wrong = |problem: &dyn std::fmt::Display| fail(format!("array {number}: {problem}"));
        if entry.compression() != CompressionMethod::Stored || entry.size() > bytes {
            return Err(wrong(&"it is compressed or larger than the file"));
        }
        let name = entry.name().map_err(|error| wrong(&error))?.trim_end_matches(".npy").to_owned();
        // Read to the end, where the checksum is verified.
        let mut contents = Vec::with_capacity(entry.size() as usize);
        entry.take(bytes).read_to_end(&mut contents).map_err(|error| wrong(&error))?;
        let mut rows = Rows::open(&contents[..]).map_err(|problem| wrong(&problem))?;
        // Shorter numbers would take up to eight times their bytes as float64.
        if !rows.is_float64() {
            return Err(wrong(&"its numbers are not float64"));
        }
        let declared = rows.rows.saturating_mul(rows.width as u64);
        if declared.saturating_mul(8) > contents.len() as u64 {
            return Err(wrong(&"the array is truncated"));
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
    fn arrays_of_short_numbers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arrays.npz");
        let mut archive = ZipWriter::new(std::fs::File::create(&path).unwrap());
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        archive.start_file("a.npy", options).unwrap();
        npy::Header::row_major("|i1", &[1000]).write(&mut archive).unwrap();
        archive.write_all(&[0; 1000]).unwrap();
        archive.finish().unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("array 0: its numbers are not float64"));
    }

    #[test]
    fn arrays_round_trip_and_corruption_is_detected() {
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
        let intact = std::fs::read(&path).unwrap();
        let mut detected = 0;
        for at in 0..intact.len() {
            let mut bytes = intact.clone();
            bytes[at] ^= 0x10;
            std::fs::write(&path, &bytes).unwrap();
            // Some bytes, such as dates, carry no data; a successful read returns the original
            // numbers.
            match read(&path) {
                Err(_) => detected += 1,
                Ok(found) => {
                    assert!(found.iter().zip(&arrays).all(|(a, b)| a.1.values == b.1.values), "{at}");
                }
            }
            std::fs::write(&path, &intact[..at]).unwrap();
            assert!(read(&path).is_err(), "cut at {at}");
        }
        assert!(detected > intact.len() / 3, "{detected} of {}", intact.len());
    }
}
