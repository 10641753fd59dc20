//! Data-parallel training under `mpirun`, with the feature `mpi`.
//!
//! Every test run kills a few processes; `just kill-test-mpi` kills 50.

mod launch;

use isochrone::learn::run::{Record, Run};
use launch::{Rank, SETTINGS, TRAIN, mpirun, patient_mpirun, run_folder, walks};
use std::{
    path::Path,
    time::{Duration, Instant},
};

const STEPS: u64 = 40;

/// Returns the files of the last checkpoint that hold tensors.
fn last_checkpoint(folder: &Path) -> [Vec<u8>; 2] {
    let checkpoint = run_folder(folder).join(format!("checkpoints/step-{STEPS:012}"));
    ["weights.safetensors", "training.safetensors"].map(|name| std::fs::read(checkpoint.join(name)).unwrap())
}

fn losses(folder: &Path) -> Vec<f64> {
    let records: Vec<Record> = Run::open(&run_folder(folder)).unwrap().records().unwrap();
    let loss = |(name, value): &(String, f64)| name.ends_with("/loss").then_some(*value);
    records.iter().flat_map(|record| record.values.iter().filter_map(loss)).collect()
}

fn train(ranks: usize, algorithm: &str, folder: &Path) {
    let arguments = format!("{TRAIN} --algorithm {algorithm} steps={STEPS} {SETTINGS}");
    let outcome = mpirun(folder, &[Rank::new(ranks, &arguments)]).finish();
    assert_eq!(outcome.code, Some(0), "{algorithm}: {}", outcome.stderr);
}

#[test]
fn two_processes_train_like_one() {
    for algorithm in ["cmd1", "cmd2", "crl-nce", "qrl"] {
        let folders = [1, 2].map(|ranks| {
            let folder = walks();
            train(ranks, algorithm, folder.path());
            folder
        });
        let [one, two] = [&folders[0], &folders[1]].map(|folder| losses(folder.path()));
        assert!(one.len() >= STEPS as usize);
        let largest = one.iter().zip(&two).map(|(a, b)| (a - b).abs() / a.abs().max(1.0)).fold(0.0, f64::max);
        assert!(largest < 1e-5, "{algorithm}: {largest:e}");
        let manifest = std::fs::read_to_string(run_folder(folders[1].path()).join("manifest.json")).unwrap();
        assert!(manifest.contains("\"processes\": 2"), "{manifest}");
    }
}

/// One process under `mpirun` writes the bytes of one that was started directly.
#[test]
fn one_process_is_not_changed_by_mpi() {
    let [direct, launched] = [walks(), walks()];
    train(1, "cmd1", launched.path());
    let arguments = format!("{TRAIN} --algorithm cmd1 steps={STEPS} {SETTINGS}");
    let status = launch::isochrone(direct.path(), &arguments).status().unwrap();
    assert!(status.success());
    assert!(last_checkpoint(direct.path()) == last_checkpoint(launched.path()));
}

#[test]
fn killed_processes_end_the_job_and_it_resumes_to_the_same_bytes() {
    let kills: u32 = std::env::var("ISOCHRONE_KILLS").map_or(4, |text| text.parse().unwrap());
    let undisturbed = walks();
    let start = Instant::now();
    train(2, "cmd1", undisturbed.path());
    let (mut duration, expected) = (start.elapsed(), last_checkpoint(undisturbed.path()));
    let (mut before, mut during, mut late, mut launcher_hung, mut slowest) = (0, 0, 0, 0, Duration::ZERO);
    let mut jobs = 0;
    while before + during + launcher_hung < kills {
        jobs += 1;
        assert!(jobs < 10 * kills, "jobs end before they are killed");
        let folder = walks();
        let arguments = format!("{TRAIN} --algorithm cmd1 steps={STEPS} {SETTINGS}");
        let mut job = mpirun(folder.path(), &[Rank::new(2, &arguments)]);
        // Spread evenly over the duration of the run; ranks take turns.
        std::thread::sleep(duration.mul_f64((f64::from(jobs) * 0.618_034).fract()));
        let killed = Instant::now();
        let has_killed = job.kill_rank(jobs as usize % 2);
        let outcome = job.finish_or_kill();
        let is_begun = run_folder(folder.path()).join("config.toml").exists();
        match &outcome {
            // A process that is killed while Open MPI connects it to its launcher can leave the
            // launcher waiting, before any of our code runs. Training never does.
            Err(messages) => {
                assert!(!is_begun, "job {jobs}: {messages}");
                launcher_hung += 1;
            }
            Ok(outcome) if !has_killed || outcome.code == Some(0) => {
                assert_eq!(outcome.code, Some(0), "job {jobs}: {}", outcome.stderr);
                late += 1;
                duration = duration.mul_f64(0.9);
            }
            Ok(_) => {
                slowest = slowest.max(killed.elapsed());
                if is_begun { during += 1 } else { before += 1 }
            }
        }
        let arguments = if is_begun { "train --resume r".to_owned() } else { arguments };
        let outcome = mpirun(folder.path(), &[Rank::new(2, &arguments)]).finish();
        assert_eq!(outcome.code, Some(0), "job {jobs}: {}", outcome.stderr);
        assert!(last_checkpoint(folder.path()) == expected, "job {jobs}: the same bytes");
    }
    println!(
        "{kills} killed: {before} before the run was created, {during} in training, {launcher_hung} before the launcher was ready, which then waited; the job ended within {:.1} s; {late} jobs ended before the kill",
        slowest.as_secs_f64()
    );
    assert!(during > 0);
}

/// A rank that fails before training ends all ranks, with the message of the one that failed.
#[test]
fn failures_before_training_end_all_processes() {
    let folder = walks();
    let good = format!("{TRAIN} steps=4 {SETTINGS}");
    // The first process refuses its arguments.
    let outcome = mpirun(folder.path(), &[Rank::new(2, &format!("{good} batch_size=17"))]).finish();
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("batch_size = 17"), "{}", outcome.stderr);
    assert!(!run_folder(folder.path()).exists());
    // The first process finds no dataset, or an unknown setting.
    for (arguments, message) in [
        (good.replace("walks.csv", "missing.csv"), "missing.csv: no such file"),
        (format!("{good} learner.critic.widht=3"), "unknown setting"),
        (format!("{good} --negatives group:3"), "processes_per_group = 3"),
    ] {
        let outcome = mpirun(folder.path(), &[Rank::new(2, &arguments)]).finish();
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    }
    // The dataset is relative to the working directory of each process, and missing for the second.
    let here = good.replace("walks.csv", "/proc/self/cwd/walks.csv");
    let elsewhere = tempfile::tempdir().unwrap();
    let ranks = [Rank::new(1, &here), Rank::new(1, &here).in_folder(elsewhere.path())];
    let outcome = mpirun(folder.path(), &ranks).finish();
    assert_ne!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("/proc/self/cwd/walks.csv"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("process 1 failed"), "{}", outcome.stderr);
    // A process dies before it joins.
    let ranks = [Rank::new(1, &good), Rank::shell(1, "exit 7")];
    assert_ne!(mpirun(folder.path(), &ranks).finish().code, Some(0));
}

#[test]
fn negatives_come_from_groups() {
    let folder = walks();
    let arguments = format!("{TRAIN} --negatives group:1 steps=4 {SETTINGS}");
    let outcome = mpirun(folder.path(), &[Rank::new(2, &arguments)]).finish();
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let config = std::fs::read_to_string(run_folder(folder.path()).join("config.toml")).unwrap();
    assert!(config.contains("processes_per_group = 1"), "{config}");
}

/// The first process cannot write a checkpoint; the other would wait for it forever.
#[test]
fn failures_during_training_end_all_processes() {
    let folder = walks();
    let arguments = format!("{TRAIN} steps=1000 {SETTINGS} learner.critic.width=256");
    // Files of at most 64 blocks of 512 bytes; without the signal, writing more is an error.
    let limited = Rank::shell(
        1,
        &format!("trap '' XFSZ; ulimit -f 64; exec {} {arguments}", env!("CARGO_BIN_EXE_isochrone")),
    );
    let outcome = mpirun(folder.path(), &[limited, Rank::new(1, &arguments)]).finish();
    assert_ne!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("File too large"), "{}", outcome.stderr);
}

#[test]
fn terminated_jobs_save_one_checkpoint_and_resume() {
    let folder = walks();
    let arguments = format!("{TRAIN} steps=1000000 {SETTINGS}");
    let job = patient_mpirun(folder.path(), &[Rank::new(2, &arguments)]);
    let run = run_folder(folder.path());
    let has_measured =
        || Run::open(&run).ok().and_then(|run| run.records().ok()).is_some_and(|records| records.len() > 5);
    let waiting = Instant::now();
    while !has_measured() {
        assert!(waiting.elapsed() < Duration::from_secs(60), "no metrics after 60 s");
        std::thread::sleep(Duration::from_millis(20));
    }
    job.signal("-TERM");
    let outcome = job.finish();
    assert_ne!(outcome.code, Some(0));
    let run = Run::open(&run).unwrap();
    let status = run.status().unwrap();
    assert_eq!(status.state, isochrone::learn::run::State::Stopped);
    assert_eq!(run.checkpoints().steps().unwrap().last(), Some(&status.step));
}
