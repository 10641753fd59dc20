//! Scoring and graphs in parts, measured on synthetic walks: `just bench-score`.
//!
//! ```text
//! cargo run --release -p isochrone-eval --example scale -- FOLDER ROWS PARTS RESULTS.json
//! ```

use isochrone_core::{Discount, ShapeError, TemporalDistance, rng};
use isochrone_data::{
    Dataset, sha256,
    shards::{Part, RowReader, Shards, StateColumns},
    tables::{NumberTable, Numbers},
};
use isochrone_eval::{
    refined::{GraphPart, Landmarks, RefinedConfig, RefinedDistance},
    score::{ScoreGoal, Scoring},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

/// The maximum number of rows per shard; a shard of this size is five units.
const MAX_SHARD_ROWS: usize = 5_000_000;
/// The minimum number of shards.
const MIN_SHARDS: usize = 7;
/// The number of rows per episode; row groups end within episodes.
const EPISODE_ROWS: usize = 997;
/// The side of the square that the walker stays in, in steps.
const SIDE: f64 = 200.0;
/// The largest dataset that is also read into memory, to compare graphs in parts with
/// [`RefinedDistance::fit`].
const MAX_IN_MEMORY: usize = 10_000_000;

/// The Euclidean distance in steps of length one, which costs little: what is measured is reading,
/// writing and dividing the data.
struct Euclidean;

fn euclidean(from: &[f32], to: &[f32]) -> f32 {
    ((from[0] - to[0]).powi(2) + (from[1] - to[1]).powi(2)).sqrt()
}

impl TemporalDistance for Euclidean {
    fn width(&self) -> usize {
        2
    }

    fn discount(&self) -> Discount {
        Discount::new((-1.0f64).exp()).expect("between 0 and 1")
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        from.chunks_exact(2).zip(to.chunks_exact(2)).map(|(from, to)| euclidean(from, to)).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        from.chunks_exact(2).flat_map(|from| to.chunks_exact(2).map(|to| euclidean(from, to))).collect()
    }
}

/// Returns an episode of a walker that turns a little at every step, and back at the border.
fn walk(episode: usize) -> Vec<f32> {
    let mut random = rng::stream(1, episode as u64);
    let mut place = [0, 1].map(|_| SIDE * rng::unit_f64(&mut random));
    let mut heading = std::f64::consts::TAU * rng::unit_f64(&mut random);
    let mut rows = Vec::with_capacity(2 * EPISODE_ROWS);
    for _ in 0..EPISODE_ROWS {
        rows.extend(place.map(|x| x as f32));
        heading += 0.3 * rng::normal(&mut random);
        let next = [place[0] + heading.cos(), place[1] + heading.sin()];
        match next.iter().all(|x| (0.0..SIDE).contains(x)) {
            true => place = next,
            false => heading += std::f64::consts::PI,
        }
    }
    rows
}

/// Writes walks in shards, unless they are there.
fn write_walks(folder: &Path, rows: usize) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let shard_rows = rows.div_ceil(MIN_SHARDS).min(MAX_SHARD_ROWS);
    let mut row = 0;
    for shard in 0..rows.div_ceil(shard_rows) {
        let (path, end) = (folder.join(format!("{shard:04}.parquet")), rows.min((shard + 1) * shard_rows));
        if path.exists() {
            row = end;
            continue;
        }
        let (mut episodes, mut states) = (Vec::new(), Vec::new());
        while row < end {
            let (episode, offset) = (row / EPISODE_ROWS, row % EPISODE_ROWS);
            let more = (EPISODE_ROWS - offset).min(end - row);
            states.extend(&walk(episode)[2 * offset..][..2 * more]);
            episodes.resize(episodes.len() + more, episode as u64);
            row += more;
        }
        let columns = vec![
            ("episode".to_owned(), Numbers::Integers(episodes)),
            ("observation".to_owned(), Numbers::Vectors { width: 2, values: states }),
        ];
        NumberTable { columns, texts: BTreeMap::new() }.write(&path)?;
    }
    Ok(())
}

/// Returns the user and system time of this process in seconds, if the system reports it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // Fields 14 and 15 of proc(5); Linux reports hundredths of a second.
    (ticks(11) + ticks(12)) / 100.0
}

/// Returns the largest resident memory of this process so far, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Runs a function, and returns its result with its wall and processor time in seconds.
fn timed<T, E>(run: impl FnOnce() -> Result<T, E>) -> Result<(T, [f64; 2]), E> {
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let result = run()?;
    Ok((result, [began.elapsed().as_secs_f64(), cpu_seconds() - cpu]))
}

/// Returns the SHA-256 of the names and contents of all files of a folder.
fn folder_sha256(folder: &Path) -> std::io::Result<String> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    let mut sums = String::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        sums += &format!("{} {name}\n", sha256(&std::fs::read(&path)?));
    }
    Ok(sha256(sums.as_bytes()))
}

/// Scores the walks at once and in parts, for a fixed goal and for the last state of episodes.
fn score(folder: &Path, shards: &Shards, parts: &[u64]) -> Result<Value, Box<dyn Error>> {
    let mut results = Vec::new();
    for to in ["fixed", "last"] {
        let mut once = None;
        for &count in [1].iter().chain(parts) {
            let output = folder.join(format!("scored-{to}-{count}"));
            let goal = match to {
                "fixed" => ScoreGoal::Nearest(vec![SIDE as f32 / 2.0; 2]),
                _ => ScoreGoal::LastState,
            };
            let scoring = Scoring::new(&Euclidean, to, goal);
            let (rows, [seconds, cpu]) = timed(|| {
                let part =
                    |index| scoring.run(shards, Part::new(index, count).expect("a part"), &output, |_| {});
                (0..count).try_fold(0, |rows, index| part(index).map(|scored| rows + scored.rows))
            })?;
            let hash = folder_sha256(&output)?;
            let expected = once.get_or_insert_with(|| hash.clone());
            assert_eq!((rows, &hash), (shards.n_rows(), &*expected), "{to} in {count} parts");
            std::fs::remove_dir_all(&output)?;
            println!(
                "score {to} in {count} parts: {rows} rows, {seconds:.1} s, {cpu:.1} s of processor time"
            );
            results.push(json!({
                "to": to, "parts": count, "seconds": seconds, "cpu_seconds": cpu,
                "rows_per_cpu_second": (rows as f64 / cpu.max(1e-9)).round(), "output_sha256": hash,
            }));
        }
    }
    Ok(json!(results))
}

/// Builds the graph at once and in parts.
fn graph(folder: &Path, shards: &Shards, parts: &[u64]) -> Result<Value, Box<dyn Error>> {
    let columns = StateColumns { width: 2, ..StateColumns::default() };
    let (rows, config) = (shards.n_rows(), RefinedConfig::default());
    let sample = Landmarks::SAMPLE_ROWS;
    let (landmarks, [seconds, cpu]) = timed(|| Landmarks::choose(shards, &columns, sample, &config))?;
    println!("{} landmarks: {seconds:.1} s", landmarks.n_landmarks());
    let chosen = json!({ "landmarks": landmarks.n_landmarks(), "radius_steps": landmarks.radius_steps(),
        "sample_rows": sample, "seconds": seconds, "cpu_seconds": cpu });
    landmarks.save(&folder.join("landmarks.json"))?;
    let landmarks = Arc::new(landmarks);
    let (mut once, mut results) = (None, Vec::new());
    for &count in [1].iter().chain(parts) {
        let files: Vec<PathBuf> =
            (0..count).map(|index| folder.join(format!("edges-{index}-{count}.parquet"))).collect();
        let (_, [seconds, cpu]) = timed(|| {
            files.iter().enumerate().try_for_each(|(index, file)| {
                let part = Part::new(index as u64, count).expect("a part");
                GraphPart::build(&landmarks, shards, part)?.save(file)
            })
        })?;
        // The last part first: the order does not matter.
        let (merged, [merge_seconds, _]) = timed(|| {
            let parts = files.iter().rev().map(|file| GraphPart::open(file));
            let merged = parts.reduce(|a, b| a?.merge(b?)).expect("there are parts")?;
            merged.distance().map(|_| merged)
        })?;
        let hash = sha256(&merged.to_bytes());
        let expected = once.get_or_insert_with(|| hash.clone());
        assert_eq!((merged.n_rows(), &hash), (rows, &*expected), "the graph in {count} parts");
        println!(
            "graph in {count} parts: {} edges, {seconds:.1} s, {cpu:.1} s of processor time",
            merged.n_edges()
        );
        let bytes: u64 = files.iter().map(|file| file.metadata().map_or(0, |file| file.len())).sum();
        results.push(json!({
            "parts": count, "edges": merged.n_edges(), "seconds": seconds, "cpu_seconds": cpu,
            "rows_per_cpu_second": (rows as f64 / cpu.max(1e-9)).round(), "merge_seconds": merge_seconds,
            "part_bytes": bytes / count, "graph_sha256": hash,
        }));
        if count > 1 {
            files.iter().try_for_each(std::fs::remove_file)?;
        }
    }
    let in_memory = in_memory(shards)?;
    Ok(json!({ "chosen": chosen, "parts": results, "in_memory": in_memory }))
}

/// Compares a graph in parts with one that is fitted to all rows in memory, on the rows that fit.
fn in_memory(shards: &Shards) -> Result<Value, Box<dyn Error>> {
    if shards.n_rows() > MAX_IN_MEMORY as u64 {
        return Ok(Value::Null);
    }
    let columns = StateColumns { width: 2, ..StateColumns::default() };
    let config = RefinedConfig::default();
    let mut reader = RowReader::new(shards, &columns, &shards.units(Part::ALL)[0]);
    let mut episodes: Vec<(Vec<f32>, Vec<f32>)> = Vec::new();
    while let Some(rows) = reader.next()? {
        let mut starts = rows.starts.iter().peekable();
        for (number, row) in rows.states.chunks_exact(2).enumerate() {
            if starts.next_if_eq(&&number).is_some() {
                episodes.push((Vec::new(), Vec::new()));
            }
            episodes.last_mut().expect("the first row starts an episode").0.extend(row);
        }
    }
    let fitted = RefinedDistance::fit(&Dataset::from_arrays(2, 0, episodes)?, &config)?;
    // The sample has all rows, as in memory.
    let landmarks = Arc::new(Landmarks::choose(shards, &columns, u64::MAX, &config)?);
    let distance = GraphPart::build(&landmarks, shards, Part::ALL)?.distance()?;
    let queries: Vec<f32> = (0..2).flat_map(walk).collect();
    let agree =
        distance.all_pairs_steps(&queries, &queries)? == fitted.all_pairs_steps(&queries, &queries)?;
    assert!(agree && distance.n_edges() == fitted.n_edges(), "the graph in memory");
    println!("the graph equals the one in memory: {} edges", fitted.n_edges());
    Ok(json!({ "edges": fitted.n_edges(), "pairs": (queries.len() / 2).pow(2), "equal": agree }))
}

/// Measures everything on this many rows, and returns the results.
pub fn measure(folder: &Path, rows: usize, parts: &[u64]) -> Result<Value, Box<dyn Error>> {
    let input = folder.join(format!("walks-{rows}"));
    write_walks(&input, rows)?;
    let shards = Shards::open(&input)?;
    let bytes: u64 = shards.shards().iter().map(|shard| shard.bytes).sum();
    println!(
        "{rows} rows in {} shards, {} units, {bytes} bytes",
        shards.shards().len(),
        shards.units(Part::ALL).len()
    );
    let score = score(folder, &shards, parts)?;
    let graph = graph(folder, &shards, parts)?;
    Ok(json!({
        "rows": rows, "shards": shards.shards().len(), "units": shards.units(Part::ALL).len(), "bytes": bytes,
        "seed": 1, "data_sha256": shards.sha256(), "version": env!("CARGO_PKG_VERSION"),
        "machine": { "os": std::env::consts::OS, "arch": std::env::consts::ARCH, "threads": rayon::current_num_threads() },
        "score": score, "graph": graph, "peak_mib": peak_mib().round(),
    }))
}

#[allow(dead_code, reason = "a test runs `measure` instead")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rows, parts, results] = &arguments[..] else {
        return Err("usage: scale FOLDER ROWS PARTS RESULTS.json; hint: PARTS is a list like 3,8".into());
    };
    let parts = parts.split(',').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    let found = measure(Path::new(folder), rows.parse()?, &parts)?;
    Ok(std::fs::write(results, serde_json::to_string_pretty(&found)? + "\n")?)
}
