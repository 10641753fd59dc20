//! Parquet tables.

#![no_main]

use isochrone_data::formats::{Format, ReadOptions};
use isochrone_fuzz::{Drain, Scratch, Seed, fixture};

fn seeds() -> Vec<Seed> {
    vec![
        ("gzip", fixture("table-gzip.parquet")),
        ("snappy", fixture("table-snappy.parquet")),
        ("zstd", fixture("table-zstd.parquet")),
        ("lerobot", fixture("lerobot/data/chunk-000/file-000.parquet")),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    thread_local!(static OPTIONS: ReadOptions = ReadOptions::default().observations(["x", "y", "height"]));
    SCRATCH.with(|scratch| {
        let path = scratch.replace("x.parquet", bytes);
        OPTIONS.with(|options| drop(Format::Parquet.read(&path, options, &mut Drain::default())));
    });
});
