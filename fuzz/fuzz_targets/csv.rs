//! CSV tables: of trajectories, and of numbers.

#![no_main]

use isochrone_data::{
    formats::{Format, ReadOptions},
    tables::Matrix,
};
use isochrone_fuzz::{Drain, Scratch, Seed, fixture};

fn seeds() -> Vec<Seed> {
    let table = fixture("table.csv");
    let lines: Vec<&[u8]> = table.split_inclusive(|byte| *byte == b'\n').collect();
    vec![
        ("few", lines[..8].concat()),
        ("more", lines[..24].concat()),
        ("numbers", b"a,b\n1,2\n3,-4e5\n".to_vec()),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    thread_local!(static OPTIONS: ReadOptions = ReadOptions::default().observations(["x", "y", "height"]));
    SCRATCH.with(|scratch| {
        let path = scratch.write("x.csv", bytes);
        OPTIONS.with(|options| drop(Format::Csv.read(&path, options, &mut Drain::default())));
        let _ = Matrix::read(&path);
    });
});
