//! What a checkpoint knows of its run: the files that say what it is, and their version.

use crate::support::{begin, config, walks};
use isochrone_learn::{
    algos::Algorithm,
    error::LearnError,
    model::{Model, Which},
    parts::Size,
    run::Run,
    trainer::{Observer, Outcome, Trainer},
};
use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Stops after a step.
struct StopAfter(u64, Arc<AtomicBool>);

impl Observer for StopAfter {
    fn updated(&mut self, step: u64) {
        self.1.store(step >= self.0, Ordering::Relaxed);
    }
}

fn train(run: &Run, until: u64) -> Outcome {
    let stop = Arc::new(AtomicBool::new(false));
    let mut trainer = Trainer::new(run, walks(4, 30), &isochrone_learn::cpu(), &mut ()).unwrap();
    trainer.train(&mut StopAfter(until, stop.clone()), &stop).unwrap()
}

fn begun(folder: &Path) -> Run {
    let data = walks(4, 30);
    let mut config = config(Algorithm::Cmd1.preset(Size::Small), &data, 8);
    (config.checkpoints.every, config.checkpoints.keep_last) = (2, 8);
    begin(folder, &config, &data)
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// The file and the checkpoint of an edit.
fn edited<T>(outcome: Result<T, LearnError>) -> (String, Option<u64>) {
    match outcome.err().expect("it was edited") {
        LearnError::Edited { path, since } => (path.file_name().unwrap().to_str().unwrap().into(), since),
        error => panic!("{error}"),
    }
}

/// Nothing is excluded: a path of the data is an edit, too. Once accepted by training, it is what later checkpoints are of.
#[test]
fn edits_are_accepted_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path());
    assert_eq!(train(&run, 4), Outcome::Stopped);
    edit(&folder.path().join("config.toml"), "path = \"walks\"", "path = \"elsewhere\"");
    assert_eq!(edited(Run::open(folder.path())), ("config.toml".into(), Some(4)));
    assert_eq!(edited(Model::open(folder.path(), Which::Last)), ("config.toml".into(), Some(4)));
    let accepted = Run::open_accepting_edits(folder.path()).unwrap();
    assert_eq!(Model::of_run(&accepted, Which::Last).unwrap().step, 4);
    assert_eq!(train(&accepted, 100), Outcome::Finished);
    let run = Run::open(folder.path()).unwrap();
    assert_eq!(Model::of_run(&run, Which::Last).unwrap().step, 8);
    assert_eq!(edited(Model::of_run(&run, Which::Step(4))), ("config.toml".into(), Some(4)));
}

/// Before there is a checkpoint, the manifest knows the configuration.
#[test]
fn edits_before_the_first_checkpoint_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    begun(folder.path());
    Run::open(folder.path()).unwrap();
    edit(&folder.path().join("config.toml"), "seed = 0", "seed = 1");
    assert_eq!(edited(Run::open(folder.path())), ("config.toml".into(), None));
    assert_eq!(Run::open_accepting_edits(folder.path()).unwrap().config().seed, 1);
}

#[test]
fn edits_of_the_manifest_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let run = begun(folder.path());
    train(&run, 100);
    edit(&folder.path().join("manifest.json"), "\"frames_per_second\": null", "\"frames_per_second\": 30.0");
    assert_eq!(edited(Run::open(folder.path())), ("manifest.json".into(), Some(8)));
    // Also while the last checkpoint is damaged.
    fs::remove_file(run.checkpoints().path(8).join("weights.safetensors")).unwrap();
    fs::write(run.checkpoints().path(8).join("SHA256SUMS"), "").unwrap();
    assert_eq!(edited(Run::open(folder.path())), ("manifest.json".into(), Some(6)));
}

/// A checkpoint of another run is not one of this.
#[test]
fn checkpoints_of_other_runs_are_refused() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = walks(4, 30);
    let run = begun(one.path());
    train(&run, 100);
    let mut config = run.config().clone();
    config.discount = 0.5;
    let second = begin(other.path(), &config, &data);
    train(&second, 100);
    for name in ["weights.safetensors", "training.safetensors", "checkpoint.json", "SHA256SUMS"] {
        fs::copy(run.checkpoints().path(8).join(name), second.checkpoints().path(8).join(name)).unwrap();
    }
    assert_eq!(edited(Model::open(other.path(), Which::Last)), ("config.toml".into(), Some(8)));
}

/// A folder of an older version is one clear line, whichever file is of it.
#[test]
fn other_formats_are_refused() {
    let is_of_format = |error: LearnError, name: &str, expected: u32| match &error {
        LearnError::Format { path, found, .. } => {
            assert!(path.ends_with(name) && *found == expected, "{error}");
            let text = error.to_string();
            assert!(text.contains("version") && text.contains("hint:") && !text.contains('\n'), "{text}");
        }
        _ => panic!("{error}"),
    };
    let folder = tempfile::tempdir().unwrap();
    train(&begun(folder.path()), 100);
    for (name, from, to, found) in [
        ("config.toml", "format = 2\n", "", 1),
        ("config.toml", "format = 2\n", "format = 3\n", 3),
        ("manifest.json", "\"format\": 2,", "", 1),
        ("manifest.json", "\"format\": 2,", "\"format\": 7,", 7),
    ] {
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        edit(&path, from, to);
        is_of_format(Run::open(folder.path()).unwrap_err(), name, found);
        fs::write(&path, text).unwrap();
    }
    edit(&folder.path().join("status.json"), "\"format\": 2,", "");
    is_of_format(Run::open(folder.path()).unwrap().status().unwrap_err(), "status.json", 1);
}
