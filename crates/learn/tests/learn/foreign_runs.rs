//! Run folders of other users: what they request is checked before it is built or used.

use crate::support::{CallLog, StopAfter, config, create_run, walks};
use isochrone_core::InstructionSet;
use isochrone_learn::{
    Algorithm, Preset, StopHandle, Training,
    error::LearnError,
    model::{CheckpointSelector, Model},
    run::{OpenOptions, Run},
};
use std::{fs, path::Path, time::Instant};

/// Trains two of four steps and edits a file of the run.
fn edited(folder: &Path, file: &str, edit: impl Fn(&str) -> String) -> Result<Run, LearnError> {
    let data = walks(4, 30);
    let config = config(Algorithm::Cmd1.preset(Preset::Small), &data, 4);
    let stop = StopHandle::default();
    let training = Training::from_run(create_run(folder, &config, &data));
    training.callbacks(StopAfter(2, stop.clone())).stop(stop).train(&data).unwrap();
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let new = edit(&text);
    assert_ne!(text, new);
    fs::write(folder.join(file), new).unwrap();
    Run::open_with(folder, &OpenOptions { accept_edits: true, ..OpenOptions::default() })
}

/// A small file can describe a network that does not fit into memory.
#[test]
fn networks_are_not_larger_than_their_checkpoint() {
    for (from, to) in [("depth = 2", "depth = 1000000"), ("width = 64", "width = 8000")] {
        let folder = tempfile::tempdir().unwrap();
        let run = edited(folder.path(), "config.toml", |text| text.replace(from, to)).unwrap();
        let began = Instant::now();
        let error = Model::of_run(&run, CheckpointSelector::Last).err().expect("it is too large").to_string();
        assert!(error.contains("trunk") && error.contains("hint:"), "{to}: {error}");
        let error = Training::from_run(run).train(&walks(4, 30)).err().expect("too large").to_string();
        assert!(error.contains("trunk"), "{to}: {error}");
        assert!(began.elapsed().as_secs() < 5, "{to} is refused before the network is built");
    }
}

#[test]
fn hashes_have_64_digits() {
    for hash in ["", "abc", &"é".repeat(32), &"g".repeat(64)] {
        let folder = tempfile::tempdir().unwrap();
        let edit = |text: &str| {
            let (before, after) = text.split_once("\"content_hash\": \"").unwrap();
            format!("{before}\"content_hash\": \"{hash}\"{}", after.split_once('"').unwrap().1)
        };
        let error = edited(folder.path(), "manifest.json", edit).expect_err("not a hash").to_string();
        assert!(error.contains("64 hexadecimal digits") && error.contains("manifest.json"), "{error}");
    }
}

/// Another processor rounds differently, and users should know.
#[test]
fn another_instruction_set_is_a_warning() {
    let used = InstructionSet::in_use().name();
    for (recorded, n_warnings) in [(used, 0), ("another", 1), ("", 0)] {
        let folder = tempfile::tempdir().unwrap();
        let edit = |text: &str| {
            let field = |name: &str| format!("\"instruction_set\": \"{name}\"");
            text.replace(&field(used), &field(recorded)) + "\n"
        };
        let run = edited(folder.path(), "manifest.json", edit).unwrap();
        let log = CallLog::default();
        Training::from_run(run).callbacks(log.clone()).train(&walks(4, 30)).unwrap();
        let warnings = log.0.lock().unwrap().1.clone();
        let about: Vec<_> = warnings.iter().filter(|warning| warning.contains("instructions")).collect();
        assert_eq!(about.len(), n_warnings, "{recorded}: {warnings:?}");
    }
}

/// A file in place of a checkpoint's folder is passed over like a corrupt one.
#[test]
fn a_file_named_like_a_checkpoint_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let run = edited(folder.path(), "manifest.json", |text| text.to_owned() + "\n").unwrap();
    fs::write(folder.path().join("checkpoints/step-000000000050"), "").unwrap();
    let model = Model::of_run(&run, CheckpointSelector::Last).unwrap();
    assert_eq!(model.step, 2);
    assert!(
        model.warnings.iter().any(|warning| warning.contains("step-000000000050")),
        "{:?}",
        model.warnings
    );
}

/// Weights that are no numbers would give distances that are none.
#[test]
fn weights_that_are_not_finite_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = edited(folder.path(), "manifest.json", |text| text.to_owned() + "\n").unwrap();
    let checkpoint = folder.path().join("checkpoints/step-000000000002");
    let (weights, sums) = (checkpoint.join("weights.safetensors"), checkpoint.join("SHA256SUMS"));
    let sum = || isochrone_data::sha256(&fs::read(&weights).unwrap());
    let (before, mut bytes) = (sum(), fs::read(&weights).unwrap());
    // The last value of the last tensor.
    let at = bytes.len() - 4;
    bytes[at..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&weights, bytes).unwrap();
    let text = fs::read_to_string(&sums).unwrap();
    assert!(text.contains(&before));
    fs::write(&sums, text.replace(&before, &sum())).unwrap();
    let error = Model::of_run(&run, CheckpointSelector::Step(2)).err().expect("not finite").to_string();
    assert!(error.contains("weights.safetensors") && error.contains("not finite"), "{error}");
}
