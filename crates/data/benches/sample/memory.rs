//! A million transitions in memory: one thread, beside NumPy, and a learner that never waits.

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

/// Rows per second of one thread that fills the same batch again and again.
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

/// NumPy's rows per second, and its version.
fn numpy(kind: &str, batch: usize) -> (f64, String) {
    let root = workspace();
    let output = Command::new(root.join("target/peers/bin/python"))
        .arg(root.join("benches/peers/numpy_sample.py"))
        .args([kind.to_owned(), batch.to_string(), SECONDS.to_string()])
        // Pinned to one core's worth of work: NumPy's takes are single-threaded anyway.
        .env("OMP_NUM_THREADS", "1")
        .output()
        .expect("target/peers has Python: just bench-data makes it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    (line["rows_per_second"].as_f64().unwrap(), line["version"].as_str().unwrap().to_owned())
}

/// The share of its time that a learner spends waiting, if a step takes it this long.
fn waiting_share(sampler: &GoalSampler, learner: Duration, workers: usize) -> f64 {
    let number = |n| NonZeroUsize::new(n).unwrap();
    let mut loader = Loader::start(sampler, 0, number(workers), number(2));
    loader.next_batch();
    let (mut waited, start) = (Duration::ZERO, Instant::now());
    for _ in 0..200 {
        let asked = Instant::now();
        std::hint::black_box(loader.next_batch());
        waited += asked.elapsed();
        // Busy, as a learner is, not asleep.
        let began = Instant::now();
        while began.elapsed() < learner {
            std::hint::spin_loop();
        }
    }
    waited.as_secs_f64() / start.elapsed().as_secs_f64()
}

/// Our own rate alone, for work on it.
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
    println!("## In memory, one thread\n\nMedians of {ROUNDS} rounds in which both take turns.\n");
    let mut lines = String::new();
    let mut version = String::new();
    for batch in [256, 1024] {
        let ours = sampler(resident.clone(), batch);
        let (mut own, mut usual, mut best) = (Vec::new(), Vec::new(), Vec::new());
        let (mut to_usual, mut to_best) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            own.push(rows_per_second(&ours, 1_000_000 * round as u64));
            usual.push(numpy("usual", batch).0);
            let (rows, found) = numpy("best", batch);
            best.push(rows);
            version = found;
            to_usual.push(own[round] / usual[round]);
            to_best.push(own[round] / best[round]);
        }
        let [own, usual, best] = [own, usual, best].map(|rows| median(rows) / 1e6);
        let (to_usual, to_best) = (median(to_usual), median(to_best));
        lines += &format!("| {batch} | {own:.2} | {usual:.2} | {best:.2} | {to_usual:.1} | {to_best:.1} |\n");
    }
    println!(
        "NumPy {version} `usual` is written as published loaders are, `best` as fast as we could make it (`benches/peers/numpy_sample.py`).\n"
    );
    println!(
        "| batch | isochrone, million rows/s | NumPy, usual | NumPy, best | of usual | of best |\n|---|---|---|---|---|---|\n{lines}"
    );
    println!(
        "## A busy learner\n\nBatches of 1024 for a learner that computes 5 ms per step: the share of its time that it waits.\n"
    );
    let ours = sampler(resident, 1024);
    println!("| loader threads | waiting |\n|---|---|");
    for workers in [1, 2] {
        println!("| {workers} | {:.2} % |", 100.0 * waiting_share(&ours, Duration::from_millis(5), workers));
    }
    println!();
}
