//! Corrupt checkpoints, retention, and folders in use by another process.

use crate::support::{self, CallLog, config, in_folder, walks};
use isochrone_data::Dataset;
use isochrone_learn::{
    Algorithm, Preset, StopHandle, Training, TrainingResult,
    error::LearnError,
    evaluation::Evaluation,
    model::{CheckpointSelector, Model},
    run::{OpenOptions, Run, State},
};
use sha2::Digest as _;
use std::{fs, path::Path};

fn trained(folder: &Path, keep_last: usize) -> Run {
    let data = walks(4, 30);
    let mut config = config(Algorithm::Cmd1.preset(Preset::Small), &data, 10);
    (config.checkpoints.every, config.checkpoints.keep_last) = (2, keep_last);
    support::trained(folder, &config, &data)
}

/// Resumes a run and returns its first step and its warnings, too.
fn resumed(run: &Run, data: &Dataset) -> Result<(TrainingResult, (u64, Vec<String>)), LearnError> {
    let log = CallLog::default();
    let result = Training::from_run(Run::open(run.folder())?).callbacks(log.clone()).train(data)?;
    let log = log.0.lock().unwrap().clone();
    Ok((result, log))
}

#[test]
fn only_the_last_checkpoints_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    assert_eq!(run.checkpoints().steps().unwrap(), [8, 10]);
    let status = run.status().unwrap();
    assert_eq!((status.state, status.step), (State::Finished, 10));
    assert!(!run.is_active());
}

/// Scores the model of step 4 highest.
struct BestAtFour;

impl Evaluation for BestAtFour {
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)> {
        vec![("score".into(), -(model.step as f64 - 4.0).abs())]
    }
}

#[test]
fn the_best_checkpoint_is_kept_in_addition() {
    let folder = tempfile::tempdir().unwrap();
    let data = walks(4, 30);
    let mut config = config(Algorithm::Gcbc.preset(Preset::Small), &data, 10);
    (config.checkpoints.every, config.checkpoints.keep_last, config.metrics.evaluate_every) = (5, 1, 1);
    let result = in_folder(folder.path(), &config).evaluation(BestAtFour).train(&data).unwrap();
    let (run, _lock) = result.run.unwrap();
    assert_eq!(run.checkpoints().steps().unwrap(), [4, 10]);
    assert_eq!(run.status().unwrap().best.unwrap().step, 4);
    assert_eq!(Model::open(folder.path(), CheckpointSelector::Best).unwrap().step, 4);
    assert_eq!(Model::open(folder.path(), CheckpointSelector::Last).unwrap().step, 10);
}

/// For every file and every kind of corruption, the error names the file, and the run resumes from
/// the previous checkpoint.
#[test]
fn corrupt_checkpoints_are_detected_and_skipped() {
    for file in ["weights.safetensors", "training.safetensors", "checkpoint.json", "SHA256SUMS"] {
        for corrupt in [truncate as fn(&Path), flip, empty, remove] {
            let folder = tempfile::tempdir().unwrap();
            let run = trained(folder.path(), 2);
            corrupt(&run.checkpoints().path(10).join(file));
            let error = run.checkpoints().load(10).unwrap_err();
            assert!(matches!(error, LearnError::Corrupt { .. }), "{error}");
            assert!(
                error.to_string().contains("step-000000000010") && error.to_string().contains("hint:"),
                "{error}"
            );
            let (_, (step, warnings)) = resumed(&run, &walks(4, 30)).unwrap();
            assert_eq!((step, warnings.len()), (8, 1));
            assert!(run.checkpoints().load(10).is_ok(), "the corrupt checkpoint was replaced");
        }
    }
}

/// Without a valid checkpoint, a run does not restart and overwrite what may still be recovered.
#[test]
fn a_run_without_a_valid_checkpoint_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    for step in [8, 10] {
        flip(&run.checkpoints().path(step).join("weights.safetensors"));
    }
    let records = run.records().unwrap().len();
    let error = resumed(&run, &walks(4, 30)).err().unwrap();
    assert!(error.to_string().contains("none of 2 checkpoints is valid"), "{error}");
    assert_eq!((run.checkpoints().steps().unwrap().len(), run.records().unwrap().len()), (2, records));
}

/// A checkpoint of a later format is not corrupt, and is left unchanged.
#[test]
fn other_formats_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    let path = run.checkpoints().path(10);
    let json =
        fs::read_to_string(path.join("checkpoint.json")).unwrap().replace("\"format\": 2", "\"format\": 3");
    let sum = |bytes: &[u8]| {
        sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let sums = fs::read_to_string(path.join("SHA256SUMS")).unwrap();
    let old = sum(&fs::read(path.join("checkpoint.json")).unwrap());
    fs::write(path.join("SHA256SUMS"), sums.replace(&old, &sum(json.as_bytes()))).unwrap();
    fs::write(path.join("checkpoint.json"), json).unwrap();
    let error = resumed(&run, &walks(4, 30)).err().unwrap().to_string();
    assert!(error.contains("format 3") && error.contains("version"), "{error}");
}

/// A corrupt checkpoint after the one that a run resumes from does not count as one of the last.
#[test]
fn the_checkpoint_just_saved_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    flip(&run.checkpoints().path(10).join("weights.safetensors"));
    let stop = StopHandle::default();
    stop.stop();
    Training::from_run(Run::open(run.folder()).unwrap()).stop(stop).train(&walks(4, 30)).unwrap();
    assert_eq!(run.checkpoints().steps().unwrap(), [8]);
}

/// Invalid sizes in the manifest are errors.
#[test]
fn manifests_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    let path = run.folder().join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("\"width\": 4", "\"width\": 0"),
        ("\"width\": 4", "\"width\": 4000000000"),
        ("\"end\": 2", "\"end\": 200"),
    ] {
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let error =
            Run::open_with(folder.path(), &OpenOptions { accept_edits: true, ..OpenOptions::default() })
                .unwrap_err()
                .to_string();
        assert!(error.contains("manifest.json") && error.contains("corrupt"), "{error}");
    }
}

/// An evaluation that returns NaN or infinity does not make a checkpoint the best.
#[test]
fn only_finite_values_can_be_the_best() {
    struct Odd;
    impl Evaluation for Odd {
        fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)> {
            vec![("odd".into(), [f64::INFINITY, f64::NAN, 1.0][model.step as usize % 3])]
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let data = walks(4, 30);
    let mut config = config(Algorithm::Gcbc.preset(Preset::Small), &data, 7);
    (config.checkpoints.every, config.metrics.evaluate_every) = (1, 1);
    in_folder(folder.path(), &config).evaluation(Odd).fit(&data).unwrap();
    assert_eq!(Model::open(folder.path(), CheckpointSelector::Best).unwrap().step, 2);
}

fn truncate(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

fn empty(path: &Path) {
    fs::write(path, []).unwrap();
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap();
}

#[test]
fn other_data_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    let error = resumed(&run, &walks(4, 31)).err().unwrap().to_string();
    assert!(error.contains("contents") && error.contains("hint:"), "{error}");
}

#[test]
fn a_folder_has_one_run_and_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    let again = Run::create(folder.path(), run.config().clone(), run.manifest().clone());
    assert!(matches!(again.unwrap_err(), LearnError::RunExists { .. }));
    let lock = run.lock().unwrap();
    assert!(run.is_active());
    let second = Run::open(folder.path()).unwrap().lock().unwrap_err().to_string();
    assert!(second.contains("another process"), "{second}");
    drop(lock);
    assert!(!run.is_active());
}

/// The remains of an interrupted write are removed and never used as a checkpoint.
#[test]
fn unfinished_checkpoints_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    let left = folder.path().join("checkpoints/.unfinished-step-000000000012");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("weights.safetensors"), [0; 10]).unwrap();
    assert_eq!(run.checkpoints().steps().unwrap(), [8, 10]);
    let _lock = run.lock().unwrap();
    assert!(!left.exists());
}

#[test]
fn invalid_runs_are_errors_that_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = Model::open(folder.path(), CheckpointSelector::Last).err().unwrap().to_string();
    assert!(error.contains("config.toml") && error.contains("hint:"), "{error}");
    let run = trained(folder.path(), 2);
    for file in ["config.toml", "manifest.json"] {
        let path = run.folder().join(file);
        let original = fs::read(&path).unwrap();
        truncate(&path);
        let error = Model::open(folder.path(), CheckpointSelector::Last).err().unwrap().to_string();
        assert!(error.contains(file) && error.contains("hint:"), "{error}");
        fs::write(&path, original).unwrap();
    }
    let error = Model::open(folder.path(), CheckpointSelector::Step(3)).err().unwrap().to_string();
    assert!(error.contains("step-000000000003"), "{error}");
}
