//! Checkpoints that are damaged, kept, or in somebody else's hands.

use crate::support::{self, Told, config, in_folder, walks};
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

/// Resumes a run; with what it told.
fn resumed(run: &Run, data: &Dataset) -> Result<(TrainingResult, (u64, Vec<String>)), LearnError> {
    let told = Told::default();
    let result = Training::from_run(Run::open(run.folder())?).callbacks(told.clone()).train(data)?;
    let told = told.0.lock().unwrap().clone();
    Ok((result, told))
}

#[test]
fn only_the_last_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    assert_eq!(run.checkpoints().steps().unwrap(), [8, 10]);
    let status = run.status().unwrap();
    assert_eq!((status.state, status.step), (State::Finished, 10));
    assert!(!run.is_active());
}

/// Likes the model of step 4.
struct LikesFour;

impl Evaluation for LikesFour {
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)> {
        vec![("likes".into(), -(model.step as f64 - 4.0).abs())]
    }
}

#[test]
fn the_best_is_kept_besides() {
    let folder = tempfile::tempdir().unwrap();
    let data = walks(4, 30);
    let mut config = config(Algorithm::Gcbc.preset(Preset::Small), &data, 10);
    (config.checkpoints.every, config.checkpoints.keep_last, config.metrics.evaluate_every) = (5, 1, 1);
    let result = in_folder(folder.path(), &config).evaluation(LikesFour).train(&data).unwrap();
    let (run, _lock) = result.run.unwrap();
    assert_eq!(run.checkpoints().steps().unwrap(), [4, 10]);
    assert_eq!(run.status().unwrap().best.unwrap().step, 4);
    assert_eq!(Model::open(folder.path(), CheckpointSelector::Best).unwrap().step, 4);
    assert_eq!(Model::open(folder.path(), CheckpointSelector::Last).unwrap().step, 10);
}

/// Every file of a checkpoint, damaged in every way: an error that names it, and a run that goes on from the one before.
#[test]
fn damage_is_seen_and_gone_around() {
    for file in ["weights.safetensors", "training.safetensors", "checkpoint.json", "SHA256SUMS"] {
        for damage in [cut as fn(&Path), flip, empty, remove] {
            let folder = tempfile::tempdir().unwrap();
            let run = trained(folder.path(), 2);
            damage(&run.checkpoints().path(10).join(file));
            let error = run.checkpoints().load(10).unwrap_err();
            assert!(matches!(error, LearnError::Corrupt { .. }), "{error}");
            assert!(
                error.to_string().contains("step-000000000010") && error.to_string().contains("hint:"),
                "{error}"
            );
            let (_, (step, warnings)) = resumed(&run, &walks(4, 30)).unwrap();
            assert_eq!((step, warnings.len()), (8, 1));
            assert!(run.checkpoints().load(10).is_ok(), "the damaged one was replaced");
        }
    }
}

/// With nothing whole left, a run does not begin again on top of what may still be saved.
#[test]
fn nothing_whole_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    for step in [8, 10] {
        flip(&run.checkpoints().path(step).join("weights.safetensors"));
    }
    let records = run.records().unwrap().len();
    let error = resumed(&run, &walks(4, 30)).err().unwrap();
    assert!(error.to_string().contains("none of 2 checkpoints is whole"), "{error}");
    assert_eq!((run.checkpoints().steps().unwrap().len(), run.records().unwrap().len()), (2, records));
}

/// A checkpoint of a later version is no damage: nothing is done to it.
#[test]
fn other_formats_are_refused() {
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

/// A damaged checkpoint after the one that a run goes on from never counts as one of the last.
#[test]
fn what_was_just_saved_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    let run = trained(folder.path(), 2);
    flip(&run.checkpoints().path(10).join("weights.safetensors"));
    let stop = StopHandle::default();
    stop.stop();
    Training::from_run(Run::open(run.folder()).unwrap()).stop(stop).train(&walks(4, 30)).unwrap();
    assert_eq!(run.checkpoints().steps().unwrap(), [8]);
}

/// Hostile sizes in the manifest are an error.
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
        assert!(error.contains("manifest.json") && error.contains("damaged"), "{error}");
    }
}

/// A judge that gives no number, or an infinite one, does not make a checkpoint the best.
#[test]
fn only_numbers_can_be_the_best() {
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

fn cut(path: &Path) {
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
fn other_data_are_refused() {
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

/// What an interrupted write leaves is cleared away, and never taken for a checkpoint.
#[test]
fn leftovers_are_swept() {
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
fn what_is_not_a_run_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let error = Model::open(folder.path(), CheckpointSelector::Last).err().unwrap().to_string();
    assert!(error.contains("config.toml") && error.contains("hint:"), "{error}");
    let run = trained(folder.path(), 2);
    for file in ["config.toml", "manifest.json"] {
        let path = run.folder().join(file);
        let whole = fs::read(&path).unwrap();
        cut(&path);
        let error = Model::open(folder.path(), CheckpointSelector::Last).err().unwrap().to_string();
        assert!(error.contains(file) && error.contains("hint:"), "{error}");
        fs::write(&path, whole).unwrap();
    }
    let error = Model::open(folder.path(), CheckpointSelector::Step(3)).err().unwrap().to_string();
    assert!(error.contains("step-000000000003"), "{error}");
}
