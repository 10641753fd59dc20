//! OGBench archives, embeddings and tables of numbers in NumPy's formats. The first byte selects
//! the archive as it is, or its arrays, which are packed with valid checksums.

#![no_main]

use isochrone_data::{
    arrays,
    formats::{Format, ReadOptions},
    tables::Matrix,
};
use isochrone_fuzz::{Drain, Scratch, Seed, fixture, npz, npz_pieces};
use std::path::Path;

const NAMES: [&str; 6] = ["observations", "actions", "terminals", "rewards", "qpos", "qvel"];

fn seeds() -> Vec<Seed> {
    let archive = fixture("ogbench.npz");
    let tagged = |tag: u8, bytes: &[u8]| [&[tag], bytes].concat();
    let mut array =
        b"\x93NUMPY\x01\x00\x36\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}".to_vec();
    array.resize(64, b' ');
    array.extend([1.0f32, 2.0, -1.0, 0.5].iter().flat_map(|number| number.to_le_bytes()));
    vec![
        ("archive", tagged(0, &archive)),
        ("arrays", tagged(1, &npz_pieces(&NAMES, &archive))),
        ("named", tagged(2, &npz_pieces(&NAMES, &archive))),
        ("matrix", tagged(3, &array)),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    let Some((tag, bytes)) = bytes.split_first() else { return };
    let read = |path: &Path| Format::OgBench.read(path, &ReadOptions::default(), &mut Drain::default());
    SCRATCH.with(|scratch| match tag % 4 {
        0 => {
            let path = scratch.write("x.npz", bytes);
            let _ = read(&path);
            let _ = arrays::read(&path);
        }
        1 => drop(read(&scratch.write("x.npz", &npz(&NAMES, bytes)))),
        2 => drop(arrays::read(&scratch.write("x.npz", &npz(&NAMES, bytes)))),
        _ => drop(Matrix::read(&scratch.write("x.npy", bytes))),
    });
});
