//! Configurations of runs: a file, and after a zero byte assignments that override it, one per
//! line.

#![no_main]

use isochrone_data::Dataset;
use isochrone_fuzz::{Scratch, Seed};
use isochrone_learn::{Algorithm, Preset, Training, run::RunConfig, settings};

fn data() -> Dataset {
    let states: Vec<f32> = (0..40).flat_map(|step| [step as f32, 0.0]).collect();
    Dataset::from_arrays(2, 1, [(states, vec![1.0f32; 39])]).unwrap()
}

fn seeds() -> Vec<Seed> {
    let data = data();
    let complete = |algorithm: Algorithm| {
        let config = Training::new(algorithm).preset(Preset::Small).steps(3).config(&data).unwrap();
        let text = settings::to_table(&config).unwrap().to_string();
        format!("{text}\0steps=1e3\ncritic.width=16\ndata.path=\"x\"\nlearner.algorithm=qrl").into_bytes()
    };
    vec![
        ("cmd1", complete(Algorithm::Cmd1)),
        ("qrl", complete(Algorithm::Qrl)),
        ("gciql", complete(Algorithm::Gciql)),
        ("short", b"steps = 7\n[learner]\nalgorithm = \"tmd\"\n[data.read]\ngoal = { start = 0, end = 1 }\n\0seed=4".to_vec()),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    thread_local!(static DATA: Dataset = data());
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (file, lines) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let path = SCRATCH.with(|scratch| scratch.write("config.toml", file));
    if let Ok(table) = RunConfig::read_table(&path) {
        let _ = RunConfig::from_table(table, &[]);
    }
    let Ok(mut training) = Training::default().config_file(&path) else { return };
    for line in String::from_utf8_lossy(lines).lines() {
        if let Ok((name, value)) = settings::parse_assignment(line) {
            training = training.set(&name, value);
        }
    }
    let _ = training.data_from_settings();
    let _ = DATA.with(|data| training.config(data));
});
