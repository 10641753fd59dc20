//! The folder of a run. The first byte selects the file that is replaced; the others are valid,
//! and the checksums of the checkpoint are made valid. A model that opens is queried.

#![no_main]

use isochrone_core::{GoalPolicy as _, TemporalDistance as _};
use isochrone_data::{Dataset, sha256};
use isochrone_fuzz::{Scratch, Seed};
use isochrone_learn::{
    Algorithm, Model, Preset, Training,
    model::CheckpointSelector,
    run::{OpenOptions, Run},
};
use std::path::Path;

const CHECKPOINT: &str = "checkpoints/step-000000000001";
const PARTS: [&str; 3] = ["weights.safetensors", "training.safetensors", "checkpoint.json"];

/// The files that are replaced.
fn files() -> Vec<String> {
    let plain = ["config.toml", "manifest.json", "status.json", "metrics.jsonl"].map(str::to_owned);
    plain.into_iter().chain(PARTS.map(|part| format!("{CHECKPOINT}/{part}"))).collect()
}

fn train(folder: &Path) {
    let states: Vec<f32> = (0..40).flat_map(|step| [step as f32, 0.0]).collect();
    let data = Dataset::from_arrays(2, 1, [(states, vec![1.0f32; 39])]).unwrap();
    let mut training = Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(1).batch_size(2);
    // Small files give fast runs.
    for (name, value) in [("width", 4), ("depth", 1), ("latent", 16)] {
        training = training.set_if_known(&format!("critic.{name}"), value);
        training = training.set_if_known(&format!("policy.{name}"), value);
    }
    training.run_dir(folder).train(&data).unwrap();
}

/// Makes the list of checksums of a checkpoint valid.
fn sign(folder: &Path) {
    let line = |part: &str| {
        let bytes = std::fs::read(folder.join(CHECKPOINT).join(part)).unwrap_or_default();
        format!("{}  {part}\n", sha256(&bytes))
    };
    let sums: String = PARTS.iter().map(|part| line(part)).collect();
    std::fs::write(folder.join(CHECKPOINT).join("SHA256SUMS"), sums).unwrap();
}

fn seeds() -> Vec<Seed> {
    let folder = Scratch::named("seed").folder().join("run");
    train(&folder);
    let names = ["config", "manifest", "status", "metrics", "weights", "training", "checkpoint"];
    let read = |(number, file): (usize, &String)| {
        [&[number as u8], &std::fs::read(folder.join(file)).unwrap()[..]].concat()
    };
    names.into_iter().zip(files().iter().enumerate().map(read)).collect()
}

isochrone_fuzz::target!(seeds, |bytes| {
    // One folder for each file, so that only one file is replaced per input.
    thread_local!(static SCRATCH: (Scratch, Vec<String>) = {
        let (scratch, files) = (Scratch::default(), files());
        for number in 0..files.len() {
            train(&scratch.folder().join(number.to_string()));
        }
        (scratch, files)
    });
    let Some((tag, bytes)) = bytes.split_first() else { return };
    SCRATCH.with(|(scratch, files)| {
        let number = usize::from(*tag) % files.len();
        scratch.write(&format!("{number}/{}", files[number]), bytes);
        let folder = scratch.folder().join(number.to_string());
        if files[number].starts_with(CHECKPOINT) {
            sign(&folder);
        }
        let options = OpenOptions { accept_edits: true, ..OpenOptions::default() };
        let Ok(run) = Run::open_with(&folder, &options) else { return };
        let _ = run.status();
        let checkpoints = run.checkpoints();
        let _ = checkpoints.load(1);
        let Ok(model) = Model::of_run(&run, CheckpointSelector::Last) else { return };
        if let Ok(distance) = model.distance() {
            let state = vec![0.5; distance.width()];
            let _ = distance.steps(&state, &state).unwrap();
        }
        if let Ok(policy) = model.policy() {
            let state = vec![0.5; policy.observation_width()];
            assert_eq!(policy.actions(&state, &state).len(), policy.action_width());
        }
    });
});
