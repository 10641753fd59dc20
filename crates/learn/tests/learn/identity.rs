//! The identity of a run, which its checkpoints store, and the format of its files.

use crate::support::{StopAfter, config, create_run, walks};
use isochrone_learn::{
    Algorithm, Outcome, Preset, StopHandle, Training,
    error::LearnError,
    model::{CheckpointSelector, Model},
    run::{OpenOptions, Run},
};
use std::{fs, path::Path};

fn train(run: Run, until: u64) -> Outcome {
    let stop = StopHandle::default();
    let callbacks = StopAfter(until, stop.clone());
    Training::from_run(run).callbacks(callbacks).stop(stop).train(&walks(4, 30)).unwrap().outcome
}

fn started(folder: &Path) -> Run {
    let data = walks(4, 30);
    let mut config = config(Algorithm::Cmd1.preset(Preset::Small), &data, 8);
    (config.checkpoints.every, config.checkpoints.keep_last) = (2, 8);
    create_run(folder, &config, &data)
}

fn accepting_edits(folder: &Path) -> Result<Run, LearnError> {
    Run::open_with(folder, &OpenOptions { accept_edits: true, ..OpenOptions::default() })
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Returns the edited file and the checkpoint that was saved before the edit.
fn edited<T>(outcome: Result<T, LearnError>) -> (String, Option<u64>) {
    match outcome.err().expect("it was edited") {
        LearnError::Edited { path, since } => (path.file_name().unwrap().to_str().unwrap().into(), since),
        error => panic!("{error}"),
    }
}

/// Any change is an edit, even that of a data path. Once training has accepted it, later
/// checkpoints belong to the edited run.
#[test]
fn edits_are_accepted_once() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(train(started(folder.path()), 4), Outcome::Stopped);
    edit(&folder.path().join("config.toml"), "path = \"walks\"", "path = \"elsewhere\"");
    assert_eq!(edited(Run::open(folder.path())), ("config.toml".into(), Some(4)));
    assert_eq!(edited(Model::open(folder.path(), CheckpointSelector::Last)), ("config.toml".into(), Some(4)));
    let accepted = accepting_edits(folder.path()).unwrap();
    assert_eq!(Model::of_run(&accepted, CheckpointSelector::Last).unwrap().step, 4);
    assert_eq!(train(accepted, 100), Outcome::Finished);
    let run = Run::open(folder.path()).unwrap();
    assert_eq!(Model::of_run(&run, CheckpointSelector::Last).unwrap().step, 8);
    assert_eq!(edited(Model::of_run(&run, CheckpointSelector::Step(4))), ("config.toml".into(), Some(4)));
}

/// Before the first checkpoint, the manifest has the hash of the configuration.
#[test]
fn edits_before_the_first_checkpoint_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    started(folder.path());
    Run::open(folder.path()).unwrap();
    edit(&folder.path().join("config.toml"), "seed = 0", "seed = 1");
    assert_eq!(edited(Run::open(folder.path())), ("config.toml".into(), None));
    assert_eq!(accepting_edits(folder.path()).unwrap().config().seed, 1);
}

#[test]
fn edits_of_the_manifest_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    train(started(folder.path()), 100);
    let run = Run::open(folder.path()).unwrap();
    edit(&folder.path().join("manifest.json"), "\"frames_per_second\": null", "\"frames_per_second\": 30.0");
    assert_eq!(edited(Run::open(folder.path())), ("manifest.json".into(), Some(8)));
    // Also if the last checkpoint is corrupt.
    fs::remove_file(run.checkpoints().path(8).join("weights.safetensors")).unwrap();
    fs::write(run.checkpoints().path(8).join("SHA256SUMS"), "").unwrap();
    assert_eq!(edited(Run::open(folder.path())), ("manifest.json".into(), Some(6)));
}

#[test]
fn checkpoints_of_other_runs_are_rejected() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = walks(4, 30);
    train(started(one.path()), 100);
    let run = Run::open(one.path()).unwrap();
    let mut config = run.config().clone();
    config.discount = 0.5;
    train(create_run(other.path(), &config, &data), 100);
    let second = Run::open(other.path()).unwrap();
    for name in ["weights.safetensors", "training.safetensors", "checkpoint.json", "SHA256SUMS"] {
        fs::copy(run.checkpoints().path(8).join(name), second.checkpoints().path(8).join(name)).unwrap();
    }
    assert_eq!(edited(Model::open(other.path(), CheckpointSelector::Last)), ("config.toml".into(), Some(8)));
}

/// A file of another format is an error of one line.
#[test]
fn other_formats_are_rejected() {
    let is_of_format = |error: LearnError, name: &str, expected: u32| match &error {
        LearnError::Format { path, found, .. } => {
            assert!(path.ends_with(name) && *found == expected, "{error}");
            let text = error.to_string();
            assert!(text.contains("version") && text.contains("hint:") && !text.contains('\n'), "{text}");
        }
        _ => panic!("{error}"),
    };
    let folder = tempfile::tempdir().unwrap();
    train(started(folder.path()), 100);
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
