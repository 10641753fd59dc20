//! HDF5 files of D4RL and Minari. The first byte selects the reader, and for Minari the file of
//! the folder that is replaced. Checksums of the file's structure are made valid.

#![no_main]

use isochrone_data::{
    Dataset,
    formats::{Format, ReadOptions, Writer},
};
use isochrone_fuzz::{Drain, Scratch, Seed, fixture, hdf5};
use std::path::Path;

fn small() -> Vec<u8> {
    let path = Scratch::named("seed").folder().join("small");
    let mut writer = Writer::for_path(&path).unwrap();
    let data = Dataset::from_arrays(1, 1, [(vec![0.0f32, 1.0, 2.0], vec![0.5f32, 0.5])]).unwrap();
    data.send(&mut writer).unwrap();
    writer.finish().unwrap();
    std::fs::read(path.join("data/main_data.hdf5")).unwrap()
}

fn seeds() -> Vec<Seed> {
    let tagged = |tag: u8, bytes: &[u8]| [&[tag], bytes].concat();
    vec![
        ("d4rl", tagged(0, &fixture("d4rl.hdf5"))),
        ("d4rl-contiguous", tagged(0, &fixture("d4rl-contiguous.hdf5"))),
        ("minari-goal", tagged(1, &fixture("minari/goal-v0/data/main_data.hdf5"))),
        ("minari-plain", tagged(1, &fixture("minari/plain-v0/data/main_data.hdf5"))),
        ("minari-small", tagged(1, &small())),
        ("metadata", tagged(2, &fixture("minari/goal-v0/data/metadata.json"))),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = {
        let scratch = Scratch::default();
        scratch.write("metadata/data/main_data.hdf5", &small());
        scratch.write("data/data/metadata.json", &fixture("minari/goal-v0/data/metadata.json"));
        scratch
    });
    let Some((tag, bytes)) = bytes.split_first() else { return };
    let read =
        |format: Format, path: &Path| format.read(path, &ReadOptions::default(), &mut Drain::default());
    SCRATCH.with(|scratch| match tag % 3 {
        0 => drop(read(Format::D4rl, &scratch.replace("x.hdf5", &hdf5::with_checksums(bytes)))),
        1 => {
            scratch.replace("data/data/main_data.hdf5", &hdf5::with_checksums(bytes));
            let _ = read(Format::Minari, &scratch.folder().join("data"));
        }
        _ => {
            scratch.replace("metadata/data/metadata.json", bytes);
            let _ = read(Format::Minari, &scratch.folder().join("metadata"));
        }
    });
});
