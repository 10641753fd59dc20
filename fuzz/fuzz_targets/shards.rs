//! The manifest of a folder of shards. Sizes and hashes are read from the input; the content hash
//! of a valid folder is known to the seed.

#![no_main]

use isochrone_data::{
    Access, Dataset,
    formats::{Format, ReadOptions, Writer},
};
use isochrone_fuzz::{Drain, Scratch, Seed};

fn write(scratch: &Scratch) {
    let mut writer = Writer::shards(&scratch.folder().join("x"), 3).unwrap();
    let episodes = [(vec![0.0f32, 1.0, 2.0], vec![0.5f32, 0.5]), (vec![1.0, 3.0], vec![1.0])];
    Dataset::from_arrays(1, 1, episodes).unwrap().send(&mut writer).unwrap();
    writer.finish().unwrap();
}

fn seeds() -> Vec<Seed> {
    let scratch = Scratch::named("seed");
    write(&scratch);
    vec![("manifest", std::fs::read(scratch.folder().join("x/shards.json")).unwrap())]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = {
        let scratch = Scratch::default();
        write(&scratch);
        scratch
    });
    SCRATCH.with(|scratch| {
        scratch.write("x/shards.json", bytes);
        let folder = scratch.folder().join("x");
        if Format::detect(&folder).is_ok() {
            let _ = Format::Arrow.read(&folder, &ReadOptions::default(), &mut Drain::default());
            let _ = Dataset::open(&folder, Access::Random);
        }
    });
});
