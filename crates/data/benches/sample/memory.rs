//! A million transitions in memory: one thread compared with NumPy, and the waiting time of a
//! learner.

use crate::synthetic::{machine, median, sampler, send};
use isochrone_data::{
    Dataset, DatasetBuilder,
    sampling::{GoalBatch, GoalSampler, Loader},
};
use serde_json::Value;
use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

const ROUNDS: usize = 5;
const SECONDS: f64 = 2.0;

fn data() -> Dataset {
    let mut builder = DatasetBuilder::default();
    send(1000, &mut builder);
    builder.finish()
}

/// Returns the rows per second of one thread that fills the same batch repeatedly.
fn rows_per_second(sampler: &GoalSampler, first_step: u64) -> f64 {
    let mut batch = GoalBatch::default();
    let mut step = first_step;
    (0..20).for_each(|step| sampler.fill(step, &mut batch));
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < SECONDS {
        for _ in 0..20 {
            sampler.fill(step, &mut batch);
            step += 1;
        }
    }
    ((step - first_step) as usize * batch.rows()) as f64 / start.elapsed().as_secs_f64()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Returns NumPy's rows per second, and its version.
fn numpy(kind: &str, batch: usize) -> (f64, String) {
    let root = workspace();
    let output = Command::new(root.join("target/peers/bin/python"))
        .arg(root.join("benches/peers/numpy_sample.py"))
        .args([kind.to_owned(), batch.to_string(), SECONDS.to_string()])
        // Limited to one thread; `np.take` is single-threaded anyway.
        .env("OMP_NUM_THREADS", "1")
        .output()
        .expect("target/peers has Python: just bench-data installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    (line["rows_per_second"].as_f64().unwrap(), line["version"].as_str().unwrap().to_owned())
}

/// Returns the share of time that a learner waits for batches, if its own work takes this long per
/// step.
fn waiting_share(sampler: &GoalSampler, learner: Duration, workers: usize) -> f64 {
    let number = |n| NonZeroUsize::new(n).unwrap();
    let mut loader = Loader::start(sampler, 0, number(workers), number(2));
    loader.next_batch();
    let (mut waited, start) = (Duration::ZERO, Instant::now());
    for _ in 0..200 {
        let requested = Instant::now();
        std::hint::black_box(loader.next_batch());
        waited += requested.elapsed();
        // Busy like a learner, not asleep.
        let started = Instant::now();
        while started.elapsed() < learner {
            std::hint::spin_loop();
        }
    }
    waited.as_secs_f64() / start.elapsed().as_secs_f64()
}

/// Prints only the rate of isochrone, for use during optimization.
pub fn quick() {
    let resident = data();
    for batch in [256, 1024] {
        println!(
            "{batch}: {:.2} million rows/s",
            rows_per_second(&sampler(resident.clone(), batch), 0) / 1e6
        );
    }
}

pub fn run() {
    println!(
        "# Sampling\n\nMade by `just bench-data`. A row is (s, a, s', g, a'): {} numbers.\n",
        3 * 29 + 2 * 8
    );
    println!("{}", machine());
    let resident = data();
    println!("- data in memory: {} MiB\n", (resident.n_transitions() * 37 * 4) >> 20);
    println!("## In memory, one thread\n\nMedians of {ROUNDS} rounds, in each of which all samplers run.\n");
    let mut lines = String::new();
    let mut version = String::new();
    for batch in [256, 1024] {
        let ours = sampler(resident.clone(), batch);
        let (mut own, mut published, mut best) = (Vec::new(), Vec::new(), Vec::new());
        let (mut to_published, mut to_best) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            own.push(rows_per_second(&ours, 1_000_000 * round as u64));
            published.push(numpy("published", batch).0);
            let (rows, found) = numpy("best", batch);
            best.push(rows);
            version = found;
            to_published.push(own[round] / published[round]);
            to_best.push(own[round] / best[round]);
        }
        let [own, published, best] = [own, published, best].map(|rows| median(rows) / 1e6);
        let (to_published, to_best) = (median(to_published), median(to_best));
        lines += &format!(
            "| {batch} | {own:.2} | {published:.2} | {best:.2} | {to_published:.1} | {to_best:.1} |\n"
        );
    }
    println!(
        "NumPy {version} `published` follows published loaders, `best` is as fast as we could make it (`benches/peers/numpy_sample.py`).\n"
    );
    println!(
        "| batch | isochrone, million rows/s | NumPy, published | NumPy, best | ratio to published | ratio to best |\n|---|---|---|---|---|---|\n{lines}"
    );
    println!(
        "## A busy learner\n\nBatches of 1024 for a learner that computes for 5 ms per step, and the share of time that it waits.\n"
    );
    let ours = sampler(resident, 1024);
    println!("| loader threads | waiting |\n|---|---|");
    for workers in [1, 2] {
        println!("| {workers} | {:.2} % |", 100.0 * waiting_share(&ours, Duration::from_millis(5), workers));
    }
    println!();
}
