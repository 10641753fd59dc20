//! The saved graph of the refined distance. The first byte selects the archive as it is, or its
//! arrays, which are packed with valid checksums. A graph that opens is queried.

#![no_main]

use isochrone_core::TemporalDistance as _;
use isochrone_data::Dataset;
use isochrone_eval::refined::{RefinedConfig, RefinedDistance};
use isochrone_fuzz::{Scratch, Seed, npz, npz_pieces};

const NAMES: [&str; 6] = ["key", "weights", "radius_and_jumps", "landmark_rows", "fastest", "typical"];

fn data() -> Dataset {
    let episode = |sign: f32| {
        let states: Vec<f32> = (0..12).flat_map(|step| [step as f32, sign * (step % 3) as f32]).collect();
        (states, Vec::<f32>::new())
    };
    Dataset::from_arrays(2, 0, [episode(1.0), episode(-1.0)]).unwrap()
}

fn config() -> RefinedConfig {
    RefinedConfig { landmarks: 6, sampled_rows: 24, hop_pairs: 40, ..RefinedConfig::default() }
}

fn seeds() -> Vec<Seed> {
    let path = Scratch::named("seed").folder().join("refined.npz");
    let data = data();
    RefinedDistance::fit(&data, &config()).unwrap().save(&path, &data, &config()).unwrap();
    let archive = std::fs::read(path).unwrap();
    let pieces = npz_pieces(&NAMES, &archive);
    vec![("archive", [&[0], &archive[..]].concat()), ("arrays", [&[1], &pieces[..]].concat())]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    thread_local!(static DATA: Dataset = data());
    let Some((tag, bytes)) = bytes.split_first() else { return };
    SCRATCH.with(|scratch| {
        let path = match tag % 4 {
            0 => scratch.write("refined.npz", bytes),
            _ => scratch.write("refined.npz", &npz(&NAMES, bytes)),
        };
        DATA.with(|data| {
            if let Ok(Some(distance)) = RefinedDistance::open(&path, data, &config()) {
                let steps = distance.steps(&[0.0, 0.0], &[7.0, 1.0]).unwrap();
                assert!(!steps.is_nan() && steps >= 0.0, "{steps}");
                let _ = distance.path(&[0.0, 0.0], &[7.0, 1.0]).unwrap();
            }
        });
    });
});
