//! Processes that end in the middle of training: politely, or not at all.
//!
//! A few are part of every test run; `just kill-test` kills 200.

use crate::run::workspace;
use isochrone::learn::{
    model::{CheckpointSelector, Model},
    run::{Record, Run},
};
use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const STEPS: u64 = 40;
const EVERY: u64 = 3;

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Small steps, many checkpoints.
fn begin(folder: &Path, steps: u64) -> Child {
    let data = workspace().join("examples/walks.csv");
    let settings = format!(
        "steps={steps} batch_size=16 metrics.every=1 metrics.evaluate_every=5 checkpoints.every={EVERY} learner.critic.width=8 learner.critic.latent=16 learner.policy.width=8"
    );
    let arguments = format!(
        "train --data {} --observations x,y --size small --threads 1 --run r {settings}",
        data.display()
    );
    command(folder, &arguments).spawn().unwrap()
}

fn resume(folder: &Path) -> bool {
    command(folder, "train --resume r --threads 1").status().unwrap().success()
}

fn weights(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join(format!("r/checkpoints/step-{STEPS:012}/weights.safetensors"))).unwrap()
}

/// Killed at a random moment: everything that looks like a checkpoint is one, no more than an interval is lost, and the run ends as if nothing had happened.
#[test]
fn killed_runs_go_on() {
    let kills: u32 = std::env::var("ISOCHRONE_KILLS").map_or(8, |text| text.parse().unwrap());
    let whole = tempfile::tempdir().unwrap();
    let started = Instant::now();
    assert!(begin(whole.path(), STEPS).wait().unwrap().success());
    let (expected, duration) = (weights(whole.path()), started.elapsed());
    let expected_metrics = measured_by(&whole.path().join("r"));

    let (mut before, mut during, mut in_checkpoint, mut after) = (0, 0, 0, 0);
    for kill in 0..kills {
        let folder = tempfile::tempdir().unwrap();
        let mut child = begin(folder.path(), STEPS);
        // Spread over the whole run, in an order of its own.
        let moment = f64::from(kill * 7919 % kills) / f64::from(kills);
        std::thread::sleep(duration.mul_f64(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let path = folder.path().join("r");
        if !path.join("config.toml").exists() {
            before += 1;
            assert!(begin(folder.path(), STEPS).wait().unwrap().success());
            assert!(weights(folder.path()) == expected);
            continue;
        }
        let run = Run::open(&path).unwrap();
        let steps = run.checkpoints().steps().unwrap();
        for &step in &steps {
            run.checkpoints().load(step).unwrap_or_else(|error| panic!("kill {kill}: {error}"));
        }
        let measured = run.records().unwrap().last().map_or(0, |record| record.step);
        let kept = steps.last().copied().unwrap_or(0);
        assert!(measured <= kept + EVERY, "kill {kill}: {measured} steps measured, {kept} kept");
        match () {
            () if kept == STEPS => after += 1,
            () if has_unfinished(&path) => in_checkpoint += 1,
            () => during += 1,
        }
        // Once more, while it goes on.
        let mut child = command(folder.path(), "train --resume r --threads 1").spawn().unwrap();
        std::thread::sleep(duration.mul_f64((1.0 - moment) * 0.5));
        child.kill().unwrap();
        child.wait().unwrap();
        if !run.checkpoints().steps().unwrap().is_empty() {
            let model = Model::open(&path, CheckpointSelector::Best)
                .unwrap_or_else(|error| panic!("kill {kill}: {error}"));
            assert!(model.distance.is_some());
        }
        assert!(resume(folder.path()), "kill {kill}: it goes on");
        assert!(measured_by(&path) == expected_metrics, "kill {kill}: the same metrics");
        assert!(weights(folder.path()) == expected, "kill {kill}: the same bits");
        assert!(!has_unfinished(&path), "kill {kill}: nothing is left lying around");
    }
    println!(
        "{kills} killed: {before} before the run was made, {during} between checkpoints, {in_checkpoint} while one was written or removed, {after} after the last"
    );
    assert!(during + in_checkpoint > 0, "some were killed in the middle");
    assert!(in_checkpoint > 0 || kills < 100, "some were killed while a checkpoint was written");
}

/// Every line of metrics, but for the time.
fn measured_by(run: &Path) -> Vec<Record> {
    let records = Run::open(run).unwrap().records().unwrap().into_iter();
    records.map(|record| Record { seconds: 0.0, ..record }).collect()
}

fn has_unfinished(run: &Path) -> bool {
    let is_unfinished = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        entries.into_iter().any(|name| name.to_string_lossy().starts_with(".unfinished"))
    };
    is_unfinished(run) || is_unfinished(&run.join("checkpoints"))
}

/// Ctrl-C: a checkpoint of the very step, the exit code that shells know, and a run that goes on.
#[cfg(unix)]
#[test]
fn interrupted_runs_save_and_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = begin(folder.path(), 1_000_000);
    let path = folder.path().join("r");
    let has_measured =
        || Run::open(&path).ok().and_then(|run| run.records().ok()).is_some_and(|records| records.len() > 5);
    let patience = Instant::now();
    while !has_measured() {
        assert!(patience.elapsed() < Duration::from_secs(60), "it trains");
        std::thread::sleep(Duration::from_millis(20));
    }
    let run = Run::open(&path).unwrap();
    assert!(run.is_active());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!run.is_active());
    let status = run.status().unwrap();
    assert_eq!(status.state, isochrone::learn::run::State::Stopped);
    assert_eq!(run.checkpoints().steps().unwrap().last(), Some(&status.step));
    assert_eq!(run.records().unwrap().last().unwrap().step, status.step);
}
