//! Runs all contenders in several rounds and prints the results.

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
    batches: &'static [usize],
    /// Whether it runs in every round; slow contenders run only in the first.
    every_round: bool,
}

const fn entry(
    name: &'static str,
    what: &'static str,
    batches: &'static [usize],
    every_round: bool,
) -> Entry {
    Entry { name, what, batches, every_round }
}

const CONTENDERS: &[Entry] = &[
    entry("fused", "isochrone", &[256, 1024, 2048, 4096], true),
    entry("gemm", "only the matrix products of the step", &[256, 1024, 2048], true),
    entry("fused-k8", "isochrone, 8 components", &[256, 1024], true),
    entry("fused-ln", "isochrone, LayerNorm", &[256, 1024], true),
    entry("jax-rows", "JAX, custom derivative rule, argmax by rows", &[256, 1024], true),
    entry("jax-scan", "JAX, custom derivative rule, maximum by scan", &[256, 1024], true),
    entry("jax-chunked", "JAX, chunks of 8 rows, recomputed", &[256], false),
    entry("jax-naive", "JAX, broadcast (as published)", &[256, 1024], false),
    entry("jax-scan-ln", "JAX, custom derivative rule by scan, LayerNorm", &[256], true),
    entry("torch-compiled", "PyTorch, compiled", &[256, 1024], false),
    entry("naive", "Burn, broadcast, built-in layers and Adam", &[256, 1024], false),
    entry("naive-ln", "Burn, broadcast, LayerNorm", &[256], false),
];

/// A regression threshold for the ratio of the times of `slower` and `faster` at `batch`.
struct Threshold {
    slower: &'static [&'static str],
    faster: &'static str,
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
    Threshold { slower, faster, batch, at_least: Some(ratio), at_most: None }
}

const fn at_most(
    ratio: f64,
    slower: &'static [&'static str],
    faster: &'static str,
    batch: usize,
) -> Threshold {
    Threshold { slower, faster, batch, at_least: None, at_most: Some(ratio) }
}

const THRESHOLDS: &[Threshold] = &[
    at_least(8.0, &["jax-naive"], "fused", 256),
    at_least(1.5, &["jax-rows", "jax-scan"], "fused", 256),
    at_least(3.0, &["jax-rows", "jax-scan"], "fused", 1024),
    at_most(1.3, &["fused"], "gemm", 256),
    at_most(1.3, &["fused-ln"], "gemm", 256),
    at_most(1.4, &["fused"], "gemm", 1024),
    at_most(1.5, &["fused"], "gemm", 2048),
    at_most(1.2, &["fused-k8"], "fused", 256),
    at_most(1.2, &["fused-k8"], "fused", 1024),
];

/// Measurements by contender and batch, one per round; `None` if a contender is not available.
type Results = BTreeMap<(&'static str, usize), Vec<Option<Value>>>;

/// Runs each isochrone and Burn contender briefly, as a smoke test of the benchmark.
pub fn smoke() {
    for name in ["fused", "fused-ln", "fused-k8", "naive", "gemm"] {
        super::contender::run(name, 16);
    }
}

/// Runs the full benchmark and prints the results.
pub fn run() {
    let mut results = Results::new();
    for round in 0..ROUNDS {
        for entry in CONTENDERS.iter().filter(|entry| entry.every_round || round == 0) {
            for &batch in entry.batches {
                eprint!("round {} of {ROUNDS}: {} at {batch} ... ", round + 1, entry.name);
                let record = measure(entry.name, batch);
                match &record {
                    Ok(record) => eprintln!("{:.1} ms", record["median_ms"].as_f64().unwrap()),
                    Err(problem) => eprintln!("not available: {problem}"),
                }
                results.entry((entry.name, batch)).or_default().push(record.ok());
            }
        }
    }
    print_report(&results);
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs one contender in a separate process.
fn measure(name: &str, batch: usize) -> Result<Value, String> {
    let mut command = if let Some(script) = peer(name) {
        let mut command = Command::new(workspace().join("target/peers/bin/python"));
        command.arg(workspace().join("benches/peers").join(script));
        if let Some(variant) = name.strip_prefix("jax-") {
            command.args(["--variant", variant.trim_end_matches("-ln")]);
        }
        command.args(["--layer-norm", if name.ends_with("-ln") { "1" } else { "0" }]);
        command
    } else {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--contender", name]);
        command
    };
    let output = command.args(["--batch", &batch.to_string()]).output().map_err(|error| error.to_string())?;
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
fn field(results: &Results, key: (&'static str, usize), name: &str) -> Option<Vec<f64>> {
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
    batch: usize,
) -> Option<Vec<f64>> {
    let time = |name, round: usize| results.get(&(name, batch))?.get(round)?.as_ref()?["median_ms"].as_f64();
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
        "Generated by `just bench-nn`. 4 x 512 ReLU networks, observations 29, actions 8, latent 512: critic (metric residual network and potential),"
    );
    println!(
        "symmetric InfoNCE, actor, Adam. Medians of {ROUNDS} rounds; every contender in a separate process, one after the other.\n"
    );
    println!(
        "- isochrone {}, {} threads, seed 1, synthetic normal data",
        env!("CARGO_PKG_VERSION"),
        rayon::current_num_threads()
    );
    println!("- processor: {}", processor().unwrap_or_else(|| "unknown".to_owned()));
    for peer in [("jax-rows", "JAX"), ("torch-compiled", "PyTorch")] {
        let version =
            results.get(&(peer.0, 256)).and_then(|records| records[0].as_ref()?["version"].as_str());
        println!("- {}: {}", peer.1, version.unwrap_or("not installed"));
    }
    println!(
        "\n| contender | batch | ms per step | relative to isochrone | peak MiB |\n|---|---|---|---|---|"
    );
    for batch in [256, 1024, 2048, 4096] {
        for entry in CONTENDERS.iter().filter(|entry| entry.batches.contains(&batch)) {
            let Some(times) = field(results, (entry.name, batch), "median_ms") else { continue };
            let Some(ratio) = ratios(results, &[entry.name], "fused", batch).map(median) else { continue };
            let peak = field(results, (entry.name, batch), "peak_mib")
                .map_or("?".to_owned(), |p| format!("{:.0}", median(p)));
            println!("| {} | {batch} | {:.1} | {ratio:.2} | {peak} |", entry.what, median(times));
        }
    }
    println!("\n| ratio | batch | threshold | measured (min - max) | met |\n|---|---|---|---|---|");
    for threshold in THRESHOLDS {
        let name = format!("{} / {}", threshold.slower.join(" or "), threshold.faster);
        let target = threshold
            .at_least
            .map_or_else(|| format!("<= {}", threshold.at_most.unwrap()), |min| format!(">= {min}"));
        let Some(ratios) = ratios(results, threshold.slower, threshold.faster, threshold.batch) else {
            println!("| {name} | {} | {target} | not measured | |", threshold.batch);
            continue;
        };
        let (min, max) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &r| (a.min(r), b.max(r)));
        let middle = median(ratios);
        let met = threshold.at_least.is_none_or(|min| middle >= min)
            && threshold.at_most.is_none_or(|max| middle <= max);
        println!(
            "| {name} | {} | {target} | {middle:.2} ({min:.2} - {max:.2}) | {} |",
            threshold.batch,
            if met { "yes" } else { "**no**" }
        );
    }
    let peak = field(results, ("fused", 4096), "peak_mib").map(median);
    if let Some(peak) = peak {
        let naive = 4096.0f64 * 4096.0 * 512.0 * 4.0 / f64::from(1 << 30);
        println!(
            "\nBatch 4096: peak {peak:.0} MiB (threshold 1024). One tensor of all differences would take {naive:.0} GiB."
        );
    }
}

fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split(':').nth(1)?.trim().to_owned())
}
