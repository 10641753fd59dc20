//! A sharded dataset of many rows: size of the index, resident memory, and rows sampled per second.
//!
//! `cargo bench -p isochrone-data --bench shards -- --rows 1000000000 --folder F --output FILE`
//! writes that many states of noise below the folder, measures, deletes them, and stores the result
//! under `rows` in a JSON file. Without arguments, it measures a million rows and stores nothing.

#[path = "../support/record.rs"]
mod record;

use isochrone_core::{Discount, rng};
use isochrone_data::{
    Access, Dataset, EpisodeIndex, EpisodeSink as _, EpisodeView, Spec,
    formats::Writer,
    sampling::{GoalDistribution, GoalDistributionConfig, GoalSampler, Loader, SamplerConfig},
};
use rand_chacha::rand_core::Rng as _;
use serde_json::json;
use std::{
    num::NonZeroUsize,
    path::Path,
    time::{Duration, Instant},
};

const SEED: u64 = 1;
const OBSERVATION_WIDTH: usize = 2;
const ACTION_WIDTH: usize = 1;
/// The number of steps of an episode; it has one state more.
const STEPS: usize = 999;
const ROWS_PER_SHARD: u64 = 50_000_000;
const BATCH_ROWS: usize = 1024;
/// The time of each measurement; without `--rows`, a tenth of a second.
const MEASURE: Duration = Duration::from_secs(20);

fn main() {
    let rows: u64 = record::argument("--rows").map_or(1_000_000, |rows| rows.parse().expect("a number"));
    let parent = record::argument("--folder").unwrap_or_else(|| std::env::temp_dir().display().to_string());
    let parent = tempfile::tempdir_in(parent).unwrap();
    let folder = parent.path().join("shards");

    let start = Instant::now();
    let hash = write(&folder, rows);
    let write_seconds = start.elapsed().as_secs_f64();
    let (shards, bytes) = size(&folder);

    let start = Instant::now();
    let data = Dataset::open(&folder, Access::Random).unwrap();
    let open_seconds = start.elapsed().as_secs_f64();
    assert_eq!((data.index().n_states(), data.content_hash()), (rows, hash.as_str()));
    let peak_open = record::status_mib("VmHWM");

    let mut sampled = Vec::new();
    for (workers, is_cold) in [(1, true), (2, true), (1, false), (2, false)] {
        // Without the right to drop it, the first measurements are warm as well.
        let dropped = is_cold && record::argument("--rows").is_some() && drop_page_cache();
        let (rate, resident) = sample(&data, workers);
        sampled.push(json!({
            "threads": workers, "page_cache_dropped": dropped, "rows_per_second": rate.round(),
            "max_resident_mib": resident,
        }));
    }
    // The same number of rows in episodes a tenth as long.
    let short = EpisodeIndex::new(std::iter::repeat_n(99, (rows / 100) as usize));
    let result = json!({
        "rows": rows, "episodes": data.n_episodes(), "observation_width": OBSERVATION_WIDTH,
        "action_width": ACTION_WIDTH, "shards": shards, "bytes": bytes, "write_seconds": write_seconds,
        "open_and_verify_seconds": open_seconds, "index_bytes": data.index().bytes(),
        "index_bytes_for_episodes_of_100_rows": short.bytes(), "peak_resident_mib_after_open": peak_open,
        "peak_resident_mib": record::status_mib("VmHWM"), "batch_rows": BATCH_ROWS, "sampling": sampled,
        "content_sha256": hash, "seed": SEED,
    });
    record::store("rows", result);
}

/// Writes noise, one episode at a time, and returns the content hash.
fn write(folder: &Path, rows: u64) -> String {
    let mut writer = Writer::shards(folder, ROWS_PER_SHARD).unwrap();
    writer.begin(&Spec::new(OBSERVATION_WIDTH, ACTION_WIDTH)).unwrap();
    let mut random = rng::stream(SEED, 0);
    let mut bits = vec![0u8; 2 * ((STEPS + 1) * OBSERVATION_WIDTH + STEPS * ACTION_WIDTH)];
    for number in 0..(rows / (STEPS as u64 + 1)) as usize {
        random.fill_bytes(&mut bits);
        let mut noise =
            bits.chunks_exact(2).map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0);
        let observations: Vec<f32> = noise.by_ref().take((STEPS + 1) * OBSERVATION_WIDTH).collect();
        let actions: Vec<f32> = noise.collect();
        let episode = EpisodeView {
            number,
            steps: STEPS,
            observations: &observations,
            actions: &actions,
            rewards: &[],
            timestamps: &[],
            extras: Vec::new(),
            ending: isochrone_data::Ending::Unknown,
        };
        writer.episode(&episode).unwrap();
    }
    let hash = writer.content_hash();
    writer.finish().unwrap();
    hash
}

/// Returns the number of shards and the size of all files.
fn size(folder: &Path) -> (usize, u64) {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let sizes: Vec<u64> = files.map(|file| file.metadata().unwrap().len()).collect();
    (sizes.len() - 1, sizes.iter().sum())
}

/// Returns the rows per second of the loader, and the maximum resident size in MiB.
fn sample(data: &Dataset, workers: usize) -> (f64, u64) {
    let discount = Discount::new(0.99).unwrap();
    let goals = GoalDistribution::new(GoalDistributionConfig::default(), discount).unwrap();
    let config = SamplerConfig {
        batch_size: BATCH_ROWS,
        first_row: 0,
        rows_per_episode: 1,
        goals: vec![goals],
        seed: SEED,
        stream: 0,
    };
    let sampler = GoalSampler::new(data, config).unwrap();
    let number = |number| NonZeroUsize::new(number).expect("not 0");
    let mut loader = Loader::start(&sampler, 0, number(workers), number(2));
    let (start, mut rows, mut resident) = (Instant::now(), 0, 0);
    let time = if record::argument("--rows").is_some() { MEASURE } else { MEASURE / 200 };
    while start.elapsed() < time {
        rows += loader.next_batch().rows();
        resident = resident.max(record::status_mib("VmRSS"));
    }
    (rows as f64 / start.elapsed().as_secs_f64(), resident)
}

/// Drops the page cache, so that reads come from the disk. Requires root.
fn drop_page_cache() -> bool {
    let _ = std::process::Command::new("sync").status();
    std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}
