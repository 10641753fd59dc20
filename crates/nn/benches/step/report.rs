//! Runs all contenders in several rounds and prints the results.

use super::size::Size;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

/// The number of rounds of all contenders. Ratios are computed within a round, because the speed of
/// the machine drifts between rounds.
const ROUNDS: usize = 3;

/// A contender and its batch sizes.
struct Entry {
    name: &'static str,
    what: &'static str,
    width: usize,
    batches: &'static [usize],
    /// Whether it runs in every round; slow contenders run only in the first.
    every_round: bool,
}

const PAPER: usize = 512;

const fn entry(
    name: &'static str,
    what: &'static str,
    batches: &'static [usize],
    every_round: bool,
) -> Entry {
    Entry { name, what, width: PAPER, batches, every_round }
}

/// The contenders at the size of the paper.
const CONTENDERS: &[Entry] = &[
    entry("fused", "isochrone", &[256, 1024, 2048, 4096], true),
    entry("gemm", "the matrix products of the step alone", &[256, 1024, 2048], true),
    entry("bare", "products, all-pairs kernels and traffic of Adam", &[256, 1024, 2048], true),
    entry("fused-k8", "isochrone, 8 components", &[256, 1024], true),
    entry("fused-ln", "isochrone, LayerNorm", &[256, 1024, 2048], true),
    entry("jax-rows", "JAX, own derivative rule, arg max by rows", &[256, 1024], true),
    entry("jax-scan", "JAX, own derivative rule, maximum by scan", &[256, 1024], true),
    entry("jax-chunked", "JAX, chunks of 8 rows, recomputed", &[256], false),
    entry("jax-naive", "JAX, broadcast (as published)", &[256, 1024], false),
    entry("jax-scan-ln", "JAX, own derivative rule by scan, LayerNorm", &[256], true),
    entry("torch-compiled", "PyTorch, compiled", &[256, 1024], false),
    entry("naive", "Burn, broadcast, stock layers and Adam", &[256, 1024], false),
    entry("naive-ln", "the same with LayerNorm", &[256], false),
];

/// The widths of small networks.
const SMALL: [usize; 3] = [64, 128, 256];

/// The contenders at a small width, all with layer normalization.
fn small(width: usize) -> [Entry; 5] {
    let entry = |name, what, batches| Entry { name, what, width, batches, every_round: true };
    [
        entry("fused", "isochrone", &[64, 256, 1024]),
        entry("bare", "products, all-pairs kernels and traffic of Adam", &[64, 256, 1024]),
        entry("jax-rows-ln", "JAX, own derivative rule, arg max by rows", &[256]),
        entry("jax-scan-ln", "JAX, own derivative rule, maximum by scan", &[256]),
        entry("jax-naive-ln", "JAX, broadcast (as published)", &[256]),
    ]
}

/// A threshold for the ratio of the times of `slower` and `faster` at `batch`.
struct Threshold {
    slower: &'static [&'static str],
    faster: &'static str,
    width: usize,
    batch: usize,
    at_least: Option<f64>,
    at_most: Option<f64>,
}

const fn at_least(
    ratio: f64,
    slower: &'static [&'static str],
    faster: &'static str,
    batch: usize,
) -> Threshold {
    Threshold { slower, faster, width: PAPER, batch, at_least: Some(ratio), at_most: None }
}

const fn at_most(
    ratio: f64,
    slower: &'static [&'static str],
    faster: &'static str,
    batch: usize,
) -> Threshold {
    Threshold { slower, faster, width: PAPER, batch, at_least: None, at_most: Some(ratio) }
}

const THRESHOLDS: &[Threshold] = &[
    at_least(8.0, &["jax-naive"], "fused", 256),
    at_least(1.8, &["jax-rows", "jax-scan"], "fused", 256),
    at_least(4.0, &["jax-rows", "jax-scan"], "fused", 1024),
    at_most(1.12, &["fused"], "gemm", 256),
    at_most(1.12, &["fused"], "gemm", 1024),
    at_most(1.12, &["fused"], "gemm", 2048),
    at_most(1.18, &["fused-ln"], "gemm", 256),
    at_most(1.18, &["fused-ln"], "gemm", 1024),
    at_most(1.18, &["fused-ln"], "gemm", 2048),
    at_most(1.2, &["fused-k8"], "fused", 256),
    at_most(1.2, &["fused-k8"], "fused", 1024),
];

/// The thresholds of a small width.
fn small_thresholds(width: usize) -> [Threshold; 2] {
    [
        Threshold { width, ..at_most(2.0, &["fused"], "bare", 256) },
        Threshold { width, ..at_least(2.0, &["jax-rows-ln", "jax-scan-ln"], "fused", 256) },
    ]
}

/// A contender, its width and its batch.
type Key = (&'static str, usize, usize);

/// Measurements, one per round; `None` if a contender is not available.
type Results = BTreeMap<Key, Vec<Option<Value>>>;

/// Runs each isochrone and Burn contender briefly, as a smoke test of the benchmark.
pub fn smoke() {
    for name in ["fused", "fused-ln", "fused-k8", "naive", "gemm", "bare"] {
        super::contender::run(name, 16, PAPER);
    }
    super::contender::run("fused", 16, 64);
}

/// Runs the full benchmark and prints the results.
pub fn run() {
    let mut results = Results::new();
    let small: Vec<Entry> = SMALL.into_iter().flat_map(small).collect();
    for round in 0..ROUNDS {
        let entries = small.iter().chain(CONTENDERS);
        for entry in entries.filter(|entry| entry.every_round || round == 0) {
            for &batch in entry.batches {
                let Entry { name, width, .. } = *entry;
                eprint!("round {} of {ROUNDS}: {name} of width {width} at {batch} ... ", round + 1);
                let record = measure(name, width, batch);
                match &record {
                    Ok(record) => eprintln!("{:.2} ms", record["median_ms"].as_f64().unwrap()),
                    Err(problem) => eprintln!("not available: {problem}"),
                }
                results.entry((name, width, batch)).or_default().push(record.ok());
            }
        }
    }
    print_report(&results);
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs one contender in a separate process.
fn measure(name: &str, width: usize, batch: usize) -> Result<Value, String> {
    let mut command = if let Some(script) = peer(name) {
        let mut command = Command::new(workspace().join("target/peers/bin/python"));
        command.arg(workspace().join("benches/peers").join(script));
        if let Some(variant) = name.strip_prefix("jax-") {
            command.args(["--variant", variant.trim_end_matches("-ln")]);
        }
        command.args(["--layer-norm", if name.ends_with("-ln") { "1" } else { "0" }]);
        let depth = Size::of_width(width).depth;
        command.args(["--depth", &depth.to_string(), "--latent", &width.to_string()]);
        command
    } else {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--contender", name]);
        command
    };
    command.args(["--batch", &batch.to_string(), "--width", &width.to_string()]);
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(errors.lines().last().unwrap_or("no message").to_owned());
    }
    let line = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(line.lines().last().unwrap_or_default()).map_err(|error| error.to_string())
}

fn peer(name: &str) -> Option<&'static str> {
    match name.split('-').next() {
        Some("jax") => Some("jax_step.py"),
        Some("torch") => Some("torch_step.py"),
        _ => None,
    }
}

/// Returns the median of the values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the values of a field in the rounds in which the contender ran.
fn field(results: &Results, key: Key, name: &str) -> Option<Vec<f64>> {
    let found: Vec<f64> =
        results.get(&key)?.iter().flatten().filter_map(|record| record[name].as_f64()).collect();
    (!found.is_empty()).then_some(found)
}

/// Returns the time of the fastest of `slower` divided by that of `faster`, for each round in which
/// both ran.
fn ratios(
    results: &Results,
    slower: &[&'static str],
    faster: &'static str,
    [width, batch]: [usize; 2],
) -> Option<Vec<f64>> {
    let time =
        |name, round: usize| results.get(&(name, width, batch))?.get(round)?.as_ref()?["median_ms"].as_f64();
    let ratio = |round| {
        let fastest = slower.iter().filter_map(|name| time(name, round)).reduce(f64::min)?;
        Some(fastest / time(faster, round)?)
    };
    let found: Vec<f64> = (0..ROUNDS).filter_map(ratio).collect();
    (!found.is_empty()).then_some(found)
}

fn print_report(results: &Results) {
    println!("# One CMD-1 training step\n");
    println!(
        "Made by `just bench-nn`.\n\
         Observations 29, actions 8: critic (metric residual network and potential), symmetric InfoNCE, actor, Adam.\n\
         Medians of {ROUNDS} rounds; every contender in a separate process, one after the other.\n"
    );
    println!(
        "- isochrone {}, {} threads, seed 1, synthetic normal data",
        env!("CARGO_PKG_VERSION"),
        rayon::current_num_threads()
    );
    println!("- processor: {}", processor().unwrap_or_else(|| "unknown".to_owned()));
    for peer in [("jax-rows", "JAX"), ("torch-compiled", "PyTorch")] {
        let records = results.get(&(peer.0, PAPER, 256));
        let version = records.and_then(|records| records[0].as_ref()?["version"].as_str());
        println!("- {}: {}", peer.1, version.unwrap_or("not installed"));
    }
    println!("\n## Size of the paper: 4 x 512 ReLU, latent 512\n");
    print_times(results, CONTENDERS);
    print_thresholds(results, THRESHOLDS);
    print_peak(results);
    println!("\n## Small networks with layer normalization: 2 x 64, 2 x 128, 3 x 256\n");
    println!("The latent width is that of the hidden layers.\n");
    let entries: Vec<Entry> = SMALL.into_iter().flat_map(small).collect();
    print_times(results, &entries);
    let thresholds: Vec<Threshold> = SMALL.into_iter().flat_map(small_thresholds).collect();
    print_thresholds(results, &thresholds);
}

fn print_times(results: &Results, entries: &[Entry]) {
    println!("| contender | width | batch | ms per step | relative to isochrone | peak MiB |");
    println!("|---|---|---|---|---|---|");
    for width in [64, 128, 256, PAPER] {
        for batch in [64, 256, 1024, 2048, 4096] {
            let chosen = |entry: &&Entry| entry.width == width && entry.batches.contains(&batch);
            for entry in entries.iter().filter(chosen) {
                let key = (entry.name, width, batch);
                let Some(times) = field(results, key, "median_ms") else { continue };
                let ratio = ratios(results, &[entry.name], "fused", [width, batch]).map(median);
                let Some(ratio) = ratio else { continue };
                let peak =
                    field(results, key, "peak_mib").map_or("?".to_owned(), |p| format!("{:.0}", median(p)));
                let ms = median(times);
                let ms = if ms < 10.0 { format!("{ms:.2}") } else { format!("{ms:.1}") };
                println!("| {} | {width} | {batch} | {ms} | {ratio:.2} | {peak} |", entry.what);
            }
        }
    }
}

fn print_thresholds(results: &Results, thresholds: &[Threshold]) {
    println!(
        "\n| ratio | width | batch | threshold | measured (min - max) | met |\n|---|---|---|---|---|---|"
    );
    for threshold in thresholds {
        let name = format!("{} / {}", threshold.slower.join(" or "), threshold.faster);
        let Threshold { width, batch, .. } = *threshold;
        let target = threshold
            .at_least
            .map_or_else(|| format!("<= {}", threshold.at_most.unwrap()), |min| format!(">= {min}"));
        let Some(ratios) = ratios(results, threshold.slower, threshold.faster, [width, batch]) else {
            println!("| {name} | {width} | {batch} | {target} | not measured | |");
            continue;
        };
        let (min, max) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &r| (a.min(r), b.max(r)));
        let middle = median(ratios);
        let met = threshold.at_least.is_none_or(|min| middle >= min)
            && threshold.at_most.is_none_or(|max| middle <= max);
        println!(
            "| {name} | {width} | {batch} | {target} | {middle:.2} ({min:.2} - {max:.2}) | {} |",
            if met { "yes" } else { "**no**" }
        );
    }
}

fn print_peak(results: &Results) {
    let peak = field(results, ("fused", PAPER, 4096), "peak_mib").map(median);
    if let Some(peak) = peak {
        let naive = 4096.0f64 * 4096.0 * 512.0 * 4.0 / f64::from(1 << 30);
        println!(
            "\nBatch 4096: peak {peak:.0} MiB (threshold 1024).\nOne tensor of all differences would take {naive:.0} GiB."
        );
    }
}

fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split(':').nth(1)?.trim().to_owned())
}
