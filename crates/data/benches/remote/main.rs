//! A sharded dataset in a real object store: rates, an interrupted download, and what is refused.
//!
//! `cargo bench -p isochrone-data --features remote --bench remote -- --url s3://BUCKET/PREFIX
//! --folder F --output FILE` uploads shards of noise to the prefix, with the credentials of the
//! environment (`AWS_*`), and stores the result under `object_store` in a JSON file. Without an
//! address, nothing is measured.

#[path = "../support/record.rs"]
mod record;

use isochrone_core::rng;
use isochrone_data::{
    Access, Dataset, Episode, EpisodeSink as _, Spec,
    formats::{ReadOptions, Writer},
    remote::{self, CacheOptions, DatasetUrl, Fetched},
};
use object_store::{ObjectStore, ObjectStoreExt as _, aws::AmazonS3Builder, path::Path as Location};
use serde_json::json;
use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const SEED: u64 = 1;
const EPISODES: usize = 10_000;
const STEPS: usize = 999;
/// The number of shards is the number of episodes divided by this.
const EPISODES_PER_SHARD: u64 = 500;

fn main() {
    let (Some(url), Some(folder)) = (record::argument("--url"), record::argument("--folder")) else {
        println!("nothing measured: give --url s3://BUCKET/PREFIX and --folder F");
        return;
    };
    let (url, folder) = (url.parse::<DatasetUrl>().unwrap(), Path::new(&folder));
    if std::env::args().any(|argument| argument == "--only-fetch") {
        fetch(&url, folder);
        return;
    }
    let shards = folder.join("shards");
    write(&shards);
    let local = Dataset::open(&shards, Access::Random).unwrap();
    let bucket = Bucket::connect(&url);
    let upload_seconds = seconds(|| bucket.upload(&shards));

    let cache = folder.join("cache");
    let start = Instant::now();
    let cold = fetch(&url, &cache);
    let cold_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let warm = fetch(&url, &cache);
    let warm_seconds = start.elapsed().as_secs_f64();
    assert_eq!(warm.downloaded_bytes, 0);
    let remote = Dataset::load(&warm.path, ReadOptions::default()).unwrap();
    assert_eq!(remote.content_hash(), local.content_hash());
    assert_eq!(remote.index(), local.index());

    let interrupted = interrupted(&url, &folder.join("cache-of-killed"), cold.downloaded_bytes);
    let refused = refused(&url, &bucket, &shards, &folder.join("cache-of-refused"));
    record::store(
        "object_store",
        json!({
            "url": url.to_string(), "bytes": cold.downloaded_bytes, "files": cold.files,
            "upload_seconds": upload_seconds, "download_seconds": cold_seconds,
            "download_mb_per_second": cold.downloaded_bytes as f64 / 1e6 / cold_seconds,
            "cached_fetch_seconds": warm_seconds, "content_sha256": remote.content_hash(),
            "content_hash_equals_local": remote.content_hash() == local.content_hash(), "seed": SEED, "interrupted": interrupted, "refused": refused,
            "dataset_in_cache": warm.path.file_name().map(|name| name.to_string_lossy()),
        }),
    );
}

fn fetch(url: &DatasetUrl, cache: &Path) -> Fetched {
    remote::fetch(url, &CacheOptions::new(cache), &mut |_| ()).unwrap()
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// Writes random walks in the plane.
fn write(folder: &Path) {
    let spec = Spec::new(2, 2);
    let mut writer = Writer::shards(folder, EPISODES_PER_SHARD * (STEPS as u64 + 1)).unwrap();
    writer.begin(&spec).unwrap();
    let mut random = rng::stream(SEED, 0);
    for number in 0..EPISODES {
        let actions: Vec<f32> = (0..2 * STEPS).map(|_| rng::unit_f64(&mut random) as f32 - 0.5).collect();
        let mut observations = vec![0.0; 2];
        actions.iter().for_each(|step| observations.push(observations[observations.len() - 2] + 0.1 * step));
        let episode = Episode { observations, actions, ..Episode::default() };
        writer.episode(&episode.view(&spec).unwrap().numbered(number)).unwrap();
    }
    writer.finish().unwrap();
}

/// Kills processes that download at random times until the dataset is complete. The server's
/// bytes are those that arrived, since every process continues where the one before it stopped.
fn interrupted(url: &DatasetUrl, cache: &Path, total: u64) -> serde_json::Value {
    let bytes_in_cache = || {
        let entries = std::fs::read_dir(cache.join("objects")).into_iter().flatten().flatten();
        let is_hidden =
            |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let is_data =
            |path: &Path| !is_hidden(path) && path.extension().is_none_or(|extension| extension == "part");
        let files = entries.filter(|entry| is_data(&entry.path()));
        files.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum::<u64>()
    };
    let (mut random, mut kills, mut after_kills) = (rng::stream(SEED, 1), 0, Vec::new());
    while after_kills.last().is_none_or(|&bytes| bytes < total / 2) && kills < 100 {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--only-fetch", "--url", &url.to_string(), "--folder", &cache.display().to_string()])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let before = bytes_in_cache();
        // Until some bytes arrived, then at a random time.
        while bytes_in_cache() == before && process.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(rng::below(&mut random, 60) as u64));
        process.kill().unwrap();
        process.wait().unwrap();
        kills += 1;
        after_kills.push(bytes_in_cache());
    }
    let rest = fetch(url, cache);
    let kept = after_kills.last().copied().unwrap_or(0);
    assert!(after_kills.is_sorted(), "no kill loses bytes: {after_kills:?}");
    assert_eq!(rest.downloaded_bytes, total - kept, "only what was missing is downloaded");
    json!({
        "kills": kills, "bytes_after_each_kill": after_kills, "bytes_of_the_last_fetch": rest.downloaded_bytes,
        "bytes": total,
    })
}

/// Returns the errors for objects that are not those of the manifest.
fn refused(url: &DatasetUrl, bucket: &Bucket, shards: &Path, cache: &Path) -> serde_json::Value {
    let name = "part-00001.arrow";
    let intact = std::fs::read(shards.join(name)).unwrap();
    let mut flipped = intact.clone();
    flipped[intact.len() / 2] ^= 1;
    let fetched = || match remote::fetch(url, &CacheOptions::new(cache), &mut |_| ()) {
        Ok(_) => panic!("a wrong object was accepted"),
        Err(error) => error.to_string(),
    };
    bucket.put(name, flipped);
    let corrupt = fetched();
    bucket.put(name, std::fs::read(shards.join("part-00002.arrow")).unwrap());
    let replaced = fetched();
    bucket.put(name, intact[..intact.len() / 2].to_vec());
    let truncated = fetched();
    bucket.put(name, intact);
    fetch(url, cache);
    json!({ "one_bit_flipped": corrupt, "replaced_by_another_shard": replaced, "truncated": truncated })
}

/// A bucket to write to.
struct Bucket {
    store: Box<dyn ObjectStore>,
    prefix: String,
    runtime: tokio::runtime::Runtime,
}

impl Bucket {
    fn connect(url: &DatasetUrl) -> Self {
        let store = AmazonS3Builder::from_env().with_bucket_name(url.authority()).build().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { store: Box::new(store), prefix: url.path().to_owned(), runtime }
    }

    fn put(&self, name: &str, bytes: Vec<u8>) {
        let location = Location::from(format!("{}/{name}", self.prefix));
        self.runtime.block_on(self.store.put(&location, bytes.into())).unwrap();
    }

    fn upload(&self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            self.put(path.file_name().unwrap().to_str().unwrap(), std::fs::read(&path).unwrap());
        }
    }
}
