//! Training processes that are killed or interrupted.
//!
//! Every test run kills a few; `just kill-test` kills 200.

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

/// Starts a training process with fast steps and many checkpoints.
fn start(folder: &Path, steps: u64) -> Child {
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

/// After a kill at any time, all checkpoints are valid, at most one checkpoint interval is lost,
/// and the resumed run is bit-identical to an uninterrupted one.
#[test]
fn killed_runs_resume() {
    let kills: u32 = std::env::var("ISOCHRONE_KILLS").map_or(8, |text| text.parse().unwrap());
    let uninterrupted = tempfile::tempdir().unwrap();
    let started = Instant::now();
    assert!(start(uninterrupted.path(), STEPS).wait().unwrap().success());
    let (expected, duration) = (weights(uninterrupted.path()), started.elapsed());
    let expected_metrics = records_without_time(&uninterrupted.path().join("r"));

    let (mut before, mut during, mut in_checkpoint, mut after, mut by_signal) = (0, 0, 0, 0, 0);
    for kill in 0..kills {
        let folder = tempfile::tempdir().unwrap();
        let mut child = start(folder.path(), STEPS);
        // Spread over the duration of the run, in a fixed shuffled order.
        let moment = f64::from(kill * 7919 % kills) / f64::from(kills);
        std::thread::sleep(duration.mul_f64(moment));
        child.kill().unwrap();
        by_signal += u32::from(child.wait().unwrap().code().is_none());
        let path = folder.path().join("r");
        if !path.join("config.toml").exists() {
            before += 1;
            assert!(start(folder.path(), STEPS).wait().unwrap().success());
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
        // Kill the resumed run as well.
        let mut child = command(folder.path(), "train --resume r --threads 1").spawn().unwrap();
        std::thread::sleep(duration.mul_f64((1.0 - moment) * 0.5));
        child.kill().unwrap();
        by_signal += u32::from(child.wait().unwrap().code().is_none());
        if !run.checkpoints().steps().unwrap().is_empty() {
            let model = Model::open(&path, CheckpointSelector::Best)
                .unwrap_or_else(|error| panic!("kill {kill}: {error}"));
            assert!(model.distance.is_some());
        }
        assert!(resume(folder.path()), "kill {kill}: it resumes");
        assert!(records_without_time(&path) == expected_metrics, "kill {kill}: the same metrics");
        assert!(weights(folder.path()) == expected, "kill {kill}: the same weights");
        assert!(!has_unfinished(&path), "kill {kill}: no temporary files are left");
    }
    println!(
        "{by_signal} killed by the signal in {kills} runs: {before} before the run was created, {during} between checkpoints, {in_checkpoint} while one was written or removed, {after} after the last"
    );
    assert!(during + in_checkpoint > 0, "some were killed in the middle");
    assert!(in_checkpoint > 0 || kills < 100, "some were killed while a checkpoint was written");
}

/// Returns all metric records, without the time.
fn records_without_time(run: &Path) -> Vec<Record> {
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

/// A signal saves a checkpoint of the current step, and the exit code names the signal.
#[cfg(unix)]
#[test]
fn interrupted_runs_save_a_checkpoint() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 143)] {
        interrupt(signal, code);
    }
}

#[cfg(unix)]
fn interrupt(signal: &str, code: i32) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(folder.path(), 1_000_000);
    let path = folder.path().join("r");
    let has_measured =
        || Run::open(&path).ok().and_then(|run| run.records().ok()).is_some_and(|records| records.len() > 5);
    let waiting = Instant::now();
    while !has_measured() {
        assert!(waiting.elapsed() < Duration::from_secs(60), "no metrics after 60 s");
        std::thread::sleep(Duration::from_millis(20));
    }
    let run = Run::open(&path).unwrap();
    assert!(run.is_active());
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    assert!(!run.is_active());
    let status = run.status().unwrap();
    assert_eq!(status.state, isochrone::learn::run::State::Stopped);
    assert_eq!(run.checkpoints().steps().unwrap().last(), Some(&status.step));
    assert_eq!(run.records().unwrap().last().unwrap().step, status.step);
}

/// A stopped study is neither done nor an error, even while its data are collected.
#[cfg(unix)]
#[test]
fn interrupted_studies_have_the_code_of_the_signal() {
    let folder = tempfile::tempdir().unwrap();
    // Collecting the data takes minutes, and training hours.
    let recipe = "title = 'Mine'\nsummary = 'mine'\nseeds = 1\ndata_seed = 1\ndata_share = 100\nsteps = 1000000\n\
        evaluation = { episodes = 1, task_seed = 1 }\ndatasets = { nav2d = {} }\nmethods = { gcbc = {} }\n\
        [report]\nfigures = ['success']\n";
    std::fs::write(folder.path().join("mine.toml"), recipe).unwrap();
    let mut child = command(folder.path(), "--threads 1 reproduce mine.toml -o mine").spawn().unwrap();
    let waiting = Instant::now();
    while !folder.path().join("mine/lock").exists() {
        assert!(waiting.elapsed() < Duration::from_secs(60), "not started after 60 s");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let asked = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(asked.elapsed() < Duration::from_secs(20), "it ended after {:?}", asked.elapsed());
}
