//! Parquet tables: of trajectories, and of numbers.

#![no_main]

use isochrone_data::{
    formats::{Format, ReadOptions},
    tables::{NumberTable, Numbers},
};
use isochrone_fuzz::{Drain, Scratch, Seed, fixture};

fn numbers() -> Vec<u8> {
    let path = Scratch::named("seed").folder().join("x.parquet");
    let columns = vec![
        ("id".to_owned(), Numbers::Integers(vec![u64::MAX, 0])),
        ("state".to_owned(), Numbers::Vectors { width: 2, values: vec![0.5; 4] }),
        ("frame".to_owned(), Numbers::Signed(vec![-1, 7])),
        ("progress".to_owned(), Numbers::Values(vec![0.5, 1.0])),
    ];
    let texts = [("isochrone:key".to_owned(), "a text".to_owned())].into();
    NumberTable { columns, texts }.write(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn seeds() -> Vec<Seed> {
    vec![
        ("numbers", numbers()),
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
        let _ = NumberTable::read(&path);
    });
});
