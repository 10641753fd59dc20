//! LeRobot folders. The first byte selects the file that is replaced; the others are valid.

#![no_main]

use isochrone_data::formats::{Format, ReadOptions, lerobot::FrameNumbers};
use isochrone_fuzz::{Drain, Scratch, Seed, fixture};

const FILES: [&str; 3] =
    ["meta/info.json", "meta/episodes/chunk-000/file-000.parquet", "data/chunk-000/file-000.parquet"];
/// It is not replaced, since it is like the file before it.
const LAST: &str = "data/chunk-000/file-001.parquet";

fn seeds() -> Vec<Seed> {
    let tagged = |tag: u8| [&[tag], &fixture(&format!("lerobot/{}", FILES[tag as usize]))[..]].concat();
    vec![("info", tagged(0)), ("episodes", tagged(1)), ("data", tagged(2))]
}

isochrone_fuzz::target!(seeds, |bytes| {
    // One folder for each file, so that only one file is written per input.
    thread_local!(static SCRATCH: Scratch = {
        let scratch = Scratch::default();
        for folder in 0..FILES.len() {
            for file in FILES.iter().chain([&LAST]) {
                scratch.write(&format!("{folder}/{file}"), &fixture(&format!("lerobot/{file}")));
            }
        }
        scratch
    });
    let Some((tag, bytes)) = bytes.split_first() else { return };
    SCRATCH.with(|scratch| {
        let number = usize::from(*tag) % FILES.len();
        scratch.replace(&format!("{number}/{}", FILES[number]), bytes);
        let folder = scratch.folder().join(number.to_string());
        let _ = Format::LeRobot.read(&folder, &ReadOptions::default(), &mut Drain::default());
        let _ = FrameNumbers::read(&folder);
    });
});
