//! Datasets for the tests, and calls of the library.

use isochrone_core::rng;
use isochrone_data::{
    Dataset, Episode, Spec,
    formats::{ReadOptions, Writer},
    remote::{self, CacheOptions, Fetched, RemoteError},
};
use std::path::{Path, PathBuf};

/// Returns random walks.
pub fn walks(episodes: usize) -> Dataset {
    let mut random = rng::stream(1, 0);
    let mut many = |count: usize| (0..count).map(|_| rng::unit_f64(&mut random) as f32).collect::<Vec<f32>>();
    let episodes: Vec<Episode> = (0..episodes)
        .map(|number| {
            let steps = 40 + number % 7;
            Episode { observations: many((steps + 1) * 3), actions: many(steps * 2), ..Episode::default() }
        })
        .collect();
    Dataset::from_episodes(&Spec::new(3, 2), &episodes).unwrap()
}

/// Writes a dataset as a folder of shards with a manifest.
pub fn write_shards(data: &Dataset, folder: &Path, rows_per_shard: u64) {
    let mut writer = Writer::shards(folder, rows_per_shard).unwrap();
    data.send(&mut writer).unwrap();
    writer.finish().unwrap();
}

/// Returns a table with one row per line, large enough to be cut off.
pub fn table(rows: usize) -> String {
    let rows = (0..rows).map(|row| format!("{},{row}.5\n", row / 10));
    std::iter::once("episode,x\n".to_owned()).chain(rows).collect()
}

pub fn fetch(url: &str, options: &CacheOptions) -> Result<Fetched, RemoteError> {
    let mut last = 0;
    let fetched = remote::fetch(&url.parse()?, options, &mut |progress| {
        assert!(progress.bytes_done <= progress.bytes_total, "{progress:?}");
        last = progress.bytes_done;
    })?;
    // Everything that was in the cache or arrived.
    assert_eq!(fetched.downloaded_bytes + fetched.resumed_bytes + fetched.cached_bytes, last);
    Ok(fetched)
}

pub fn load(path: &Path) -> Dataset {
    Dataset::load(path, ReadOptions::default()).unwrap()
}

/// Returns the files of the cache's objects that end in `extension`.
pub fn cached_files(cache: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cache.join("objects")).into_iter().flatten();
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().unwrap_or_default() == extension).collect()
}
