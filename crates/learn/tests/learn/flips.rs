//! Flipped bits in the files of a run are refused, or change nothing.

use crate::support::{config, create_run, walks};
use isochrone_core::{TemporalDistance as _, rng};
use isochrone_learn::{
    Algorithm, Preset, Training,
    error::LearnError,
    model::{CheckpointSelector, Model},
    run::Run,
};
use std::{fs, path::Path};

/// Everything that later work depends on: the settings, the provenance, the complete checkpoint,
/// and a distance.
fn used(folder: &Path) -> Result<(String, Vec<u8>, Vec<f32>), LearnError> {
    let run = Run::open(folder)?;
    let settings = format!("{:?} {:?}", run.config(), run.manifest());
    let checkpoint = run.checkpoints().load(4)?;
    let state = checkpoint.snapshot;
    let state = [state.weights.to_bytes(), state.training.to_bytes()].concat();
    let model = Model::of_run(&run, CheckpointSelector::Step(4))?;
    let distance = model.distance.expect("it learns a distance");
    Ok((settings, state, distance.paired_nats(&[0.0; 4], &[1.0; 4])))
}

#[test]
fn no_flipped_bit_of_a_run_is_used() {
    let flips: usize = std::env::var("ISOCHRONE_FLIPS").map_or(40, |text| text.parse().unwrap());
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(4, 30));
    let config = config(Algorithm::Cmd1.preset(Preset::Small), &data, 4);
    Training::from_run(create_run(folder.path(), &config, &data)).train(&data).unwrap();
    let expected = used(folder.path()).unwrap();
    let checkpoint = Path::new("checkpoints/step-000000000004");
    let parts = ["weights.safetensors", "training.safetensors", "checkpoint.json", "SHA256SUMS"];
    let files = ["config.toml", "manifest.json"].map(|name| Path::new(name).to_owned()).into_iter();
    for file in files.chain(parts.map(|name| checkpoint.join(name))) {
        let (name, path) = (file.display(), folder.path().join(&file));
        let intact = fs::read(&path).unwrap();
        let (mut refused, mut equal) = (0, 0);
        let mut random = rng::stream(7, 0);
        for _ in 0..flips {
            let bit = rng::below(&mut random, 8 * intact.len());
            let mut bytes = intact.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, bytes).unwrap();
            match used(folder.path()) {
                Err(_) => refused += 1,
                Ok(found) => {
                    assert!(found == expected, "{name}: bit {bit} is used silently");
                    equal += 1;
                }
            }
        }
        fs::write(&path, intact).unwrap();
        println!("{name}: of {flips} flipped bits {refused} were refused, {equal} changed nothing");
        assert!(refused > equal, "{name}: {refused} refused, {equal} equal");
    }
    assert!(used(folder.path()).unwrap() == expected);
}
