//! The isochrone Arrow format. A wrong checksum is a defect that the sink receives after the last
//! episode, so that every mutation gets past it.

#![no_main]

use isochrone_data::{
    Access, Dataset, DatasetBuilder, Spec,
    formats::{Format, ReadOptions, Writer},
};
use isochrone_fuzz::{Drain, Scratch, Seed};
use std::path::Path;

fn written(data: &Dataset) -> Vec<u8> {
    let path = Scratch::named("seed").folder().join("x.arrow");
    let mut writer = Writer::for_path(&path).unwrap();
    data.send(&mut writer).unwrap();
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

fn seeds() -> Vec<Seed> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/data/tests/fixtures");
    let load = |format: Format, name: &str, options: &ReadOptions| {
        let mut builder = DatasetBuilder::default();
        format.read(&fixtures.join(name), options, &mut builder).unwrap();
        written(&builder.finish())
    };
    let episodes = [(vec![0.0f32, 1.0, 2.0], vec![0.5f32, 0.5]), (vec![1.0, 3.0], vec![1.0])];
    let plain = ReadOptions::default();
    let table = ReadOptions::default().observations(["x", "y", "height"]);
    vec![
        ("small", written(&Dataset::from_arrays(1, 1, episodes).unwrap())),
        ("minari", load(Format::Minari, "minari/goal-v0", &plain)),
        ("lerobot", load(Format::LeRobot, "lerobot", &plain)),
        ("table", load(Format::Csv, "table.csv", &table)),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    SCRATCH.with(|scratch| {
        let path = scratch.replace("x.arrow", bytes);
        let _ = Format::Arrow.read(&path, &ReadOptions::default(), &mut Drain::default());
        if let Ok(data) = Dataset::open(&path, Access::Random) {
            let _: &Spec = data.spec();
            (0..data.index().n_states()).for_each(|state| drop(data.state(state).to_vec()));
        }
    });
});
