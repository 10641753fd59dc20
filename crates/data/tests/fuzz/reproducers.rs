//! Inputs that coverage-guided fuzzing found: `fuzz/reproducers/TARGET`. Each once was a panic, a
//! hang or too large an allocation, and must stay an error or a dataset.

use crate::{Drain, allocation::peak_of, scratch, table_options};
use isochrone_core::exact::GridWorld;
use isochrone_data::{
    formats::{EmbeddingOptions, Format, ReadOptions},
    tables::NumberTable,
    tabular::{LogColumns, read_event_log, read_mdp_json},
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// The limits of `fuzz/README.md`; the time is larger, since tests run at the same time.
const LIMIT_BYTES: usize = 256 << 20;
const LIMIT: Duration = Duration::from_secs(20);

/// Reads an input like the target of the same name. The first byte of some inputs selects the
/// reader.
fn replay(target: &str, folder: &Path, bytes: &[u8]) {
    let read = |format: Format, path: &Path, options: &ReadOptions| {
        drop(format.read(path, options, &mut Drain::default()));
    };
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let (tag, rest) = bytes.split_first().unwrap_or((&0, &[]));
    match target {
        "arrow" => read(Format::Arrow, &write("x.arrow", bytes), &ReadOptions::default()),
        "csv" => read(Format::Csv, &write("x.csv", bytes), &table_options()),
        "parquet" => {
            let path = write("x.parquet", bytes);
            read(Format::Parquet, &path, &table_options());
            drop(NumberTable::read(&path));
        }
        "npz" => read(Format::OgBench, &write("x.npz", rest), &ReadOptions::default()),
        "hdf5" => read(Format::D4rl, &write("x.hdf5", rest), &ReadOptions::default()),
        "embeddings" => {
            let names = ["x.safetensors", "x.npy", "x.parquet"];
            let path = write(names[usize::from(*tag) % names.len()], rest);
            let components = usize::from(*tag) / names.len() % 3;
            let embedding = EmbeddingOptions { components, ..EmbeddingOptions::new(path) };
            let options = ReadOptions::default().observations(["x"]).embeddings([embedding]);
            read(Format::Csv, &write("data.csv", b"episode,x\n0,1\n0,2\n0,4\n1,3\n1,5\n"), &options);
        }
        "mdp_json" => drop(read_mdp_json(&write("x.json", bytes))),
        "event_log" => drop(read_event_log(&write("x.csv", bytes), &LogColumns::default())),
        "map" => {
            if let Ok(grid) = GridWorld::parse(&String::from_utf8_lossy(bytes)) {
                drop(grid.to_mdp(0.25));
            }
        }
        // Replayed by `just fuzz-coverage` alone.
        _ => {}
    }
}

#[test]
fn reproducers_stay_fixed() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/reproducers");
    for target in std::fs::read_dir(all).into_iter().flatten().flatten() {
        let name = target.file_name().into_string().unwrap();
        for input in std::fs::read_dir(target.path()).into_iter().flatten().flatten() {
            let (bytes, folder, start) = (std::fs::read(input.path()).unwrap(), scratch(), Instant::now());
            let ((), peak) = peak_of(|| replay(&name, folder.path(), &bytes));
            assert!(peak < LIMIT_BYTES, "{}: {peak} bytes", input.path().display());
            assert!(start.elapsed() < LIMIT, "{}: {:?}", input.path().display(), start.elapsed());
        }
    }
}
