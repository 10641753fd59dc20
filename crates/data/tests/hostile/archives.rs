//! Archives whose arrays unpack to far more than the file has.

use crate::support::{alone, refused, within_memory};
use isochrone_data::tabular::read_mdp_npz;
use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// An array: its name, type, shape, first bytes, and the number of zeros after them.
pub type Array<'a> = (&'a str, &'a str, String, Vec<u8>, u64);

fn header(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    text.extend(std::iter::repeat_n(' ', 64 - (text.len() + 11) % 64));
    text.push('\n');
    [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}

pub fn write(path: &Path, method: CompressionMethod, arrays: &[Array<'_>]) {
    let mut archive = ZipWriter::new(BufWriter::new(File::create(path).unwrap()));
    for (name, kind, shape, bytes, zeros) in arrays {
        let options = SimpleFileOptions::default().compression_method(method).large_file(true);
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(&header(kind, shape)).unwrap();
        archive.write_all(bytes).unwrap();
        let block = vec![0; 1 << 20];
        let mut left = *zeros;
        while left > 0 {
            let length = left.min(block.len() as u64);
            archive.write_all(&block[..length as usize]).unwrap();
            left -= length;
        }
    }
    archive.finish().unwrap();
}

/// Writes a matrix as SciPy does, with `rows` rows and zeros for nearly all of its numbers.
fn write_matrix(path: &Path, rows: u64, n_indptr: u64, n_data: u64) {
    let shape = [rows, rows].into_iter().flat_map(u64::to_le_bytes).collect();
    let vector = |length: u64| format!("({length},)");
    write(
        path,
        CompressionMethod::Deflated,
        &[
            ("format", "|S3", "()".into(), b"csr".to_vec(), 0),
            ("shape", "<i8", "(2,)".into(), shape, 0),
            ("indptr", "<i4", vector(n_indptr), Vec::new(), 4 * n_indptr),
            ("indices", "<i4", vector(n_data), Vec::new(), 4 * n_data),
            ("data", "<f8", vector(n_data), Vec::new(), 8 * n_data),
        ],
    );
}

#[test]
fn arrays_of_a_matrix_are_bounded_by_its_shape() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    for (rows, n_indptr, n_data, problem) in [
        (1, 200 << 20, 1, "indptr has 209715200 entries, not 2"),
        (1, 2, 100 << 20, "indices has 104857600 entries, not 0"),
        ((100 << 20) - 1, 100 << 20, 0, "indptr has 104857600 entries, more than the file can hold"),
    ] {
        write_matrix(&path, rows, n_indptr, n_data);
        let error = within_memory("matrix", || refused(read_mdp_npz(&path)));
        assert!(error.contains(problem), "{error}");
    }
}
