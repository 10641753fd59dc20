//! MDP files as sparse matrices of SciPy. The first byte selects the archive as it is, or its
//! arrays, which are packed with valid checksums.

#![no_main]

use isochrone_data::tabular::read_mdp_npz;
use isochrone_fuzz::{Scratch, Seed, npz};

const NAMES: [&str; 5] = ["format", "shape", "indptr", "indices", "data"];

fn array(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    header.extend(std::iter::repeat_n(' ', 118 - header.len() - 1));
    header.push('\n');
    [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), values].concat()
}

fn seeds() -> Vec<Seed> {
    let integers = |values: &[i32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let floats: Vec<u8> = [1.0f64, 0.5, 0.5].iter().flat_map(|value| value.to_le_bytes()).collect();
    let pieces = [
        array("|S3", "()", b"csr"),
        array("<i8", "(2,)", &[2i64, 2].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()),
        array("<i4", "(3,)", &integers(&[0, 1, 3])),
        array("<i4", "(3,)", &integers(&[1, 0, 1])),
        array("<f8", "(3,)", &floats),
    ]
    .concat();
    let archive = npz(&NAMES, &pieces);
    vec![("archive", [&[0], &archive[..]].concat()), ("arrays", [&[1], &pieces[..]].concat())]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    let Some((tag, bytes)) = bytes.split_first() else { return };
    SCRATCH.with(|scratch| {
        let path = match tag % 4 {
            0 => scratch.write("x.npz", bytes),
            _ => scratch.write("x.npz", &npz(&NAMES, bytes)),
        };
        let _ = read_mdp_npz(&path);
    });
});
