//! Helpers of the tests.

use isochrone_core::rng;
use isochrone_data::{
    DataError, Dataset, DatasetBuilder, Episode, EpisodeSink, Spec,
    formats::{Format, ReadOptions, Writer},
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns the folder of files that Python packages made.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Reads a JSON file of the fixtures.
pub fn fixture_json(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixtures().join(name)).unwrap()).unwrap()
}

/// Reads a file into memory, in the detected format.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Dataset, DataError> {
    let mut builder = DatasetBuilder::default();
    Format::detect(path)?.read(path, options, &mut builder)?;
    Ok(builder.finish())
}

/// Writes a dataset in the format that the file name specifies.
pub fn write(data: &Dataset, path: &Path) {
    let mut writer = Writer::for_path(path).unwrap();
    data.send(&mut writer).unwrap();
    writer.finish().unwrap();
}

/// Returns copies of all episodes.
pub fn episodes(data: &Dataset) -> Vec<Episode> {
    (0..data.n_episodes()).map(|episode| data.episode(episode).to_owned()).collect()
}

/// Collects episodes in a dataset.
pub fn gather(spec: &Spec, episodes: &[Episode]) -> Dataset {
    let mut builder = DatasetBuilder::default();
    builder.begin(spec).unwrap();
    for episode in episodes {
        builder.episode(&episode.view(spec).unwrap()).unwrap();
    }
    builder.finish()
}

/// Returns episodes of random walks, in which no two states are equal.
pub fn random_walks(spec: &Spec, steps: impl IntoIterator<Item = usize>, seed: u64) -> Vec<Episode> {
    let mut random = rng::stream(seed, 0);
    let mut draw = move || rng::unit_f64(&mut random) as f32 * 2.0 - 1.0;
    let mut many = |count: usize| -> Vec<f32> { (0..count).map(|_| draw()).collect() };
    let walk = |increments: Vec<f32>, width: usize| {
        let mut states = increments;
        for at in width..states.len() {
            states[at] = states[at - width] + 0.1 * states[at];
        }
        states
    };
    let mut episode = |steps: usize| Episode {
        observations: walk(many((steps + 1) * spec.observation.width), spec.observation.width),
        actions: many(steps * spec.action.width),
        rewards: if spec.has_rewards { many(steps) } else { Vec::new() },
        timestamps: if spec.has_timestamps {
            (0..=steps).map(|step| step as f64 / 10.0).collect()
        } else {
            Vec::new()
        },
        extras: spec.extras.iter().map(|extra| many((steps + 1) * extra.width)).collect(),
        ..Episode::default()
    };
    steps.into_iter().map(&mut episode).collect()
}

/// Compares a dataset with NumPy's summary of the same file.
pub fn assert_summary(data: &Dataset, expected: &Value, what: &str) {
    let numbers = |key: &str| -> Vec<f64> {
        expected[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let close = |found: Vec<f64>, key: &str, tolerance: f64| {
        let expected = numbers(key);
        assert_eq!(found.len(), expected.len(), "{what}: {key}");
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}: {key} {found:?} {expected:?}");
        }
    };
    let mut summary = isochrone_data::DatasetSummary::default();
    data.send(&mut summary).unwrap();
    assert_eq!(data.n_episodes() as u64, expected["episodes"].as_u64().unwrap(), "{what}");
    assert_eq!(data.n_transitions(), expected["transitions"].as_u64().unwrap(), "{what}");
    if let Some(steps) = expected["steps"].as_array() {
        let found: Vec<u64> =
            (0..data.n_episodes()).map(|episode| data.index().steps(episode) as u64).collect();
        assert_eq!(found, steps.iter().map(|steps| steps.as_u64().unwrap()).collect::<Vec<_>>(), "{what}");
    }
    close(summary.observations.iter().map(|dimension| dimension.mean).collect(), "observation_mean", 1e-9);
    close(
        summary.observations.iter().map(isochrone_data::DimensionSummary::standard_deviation).collect(),
        "observation_std",
        1e-9,
    );
    close(
        summary.observations.iter().map(|dimension| f64::from(dimension.min)).collect(),
        "observation_min",
        1e-12,
    );
    close(
        summary.observations.iter().map(|dimension| f64::from(dimension.max)).collect(),
        "observation_max",
        1e-12,
    );
    close(summary.actions.iter().map(|dimension| dimension.mean).collect(), "action_mean", 1e-9);
    let widths = (data.spec().observation.width, data.spec().action.width);
    let state = |episode: usize, is_last: bool| -> Vec<f64> {
        let rows = data.episode(episode).observations;
        let row = if is_last { &rows[rows.len() - widths.0..] } else { &rows[..widths.0] };
        row.iter().map(|&value| f64::from(value)).collect()
    };
    let last = data.n_episodes() - 1;
    close(state(0, false), "first_observation", 1e-7);
    close(state(last, true), "last_observation", 1e-7);
    let action = |row: &[f32]| row.iter().map(|&value| f64::from(value)).collect();
    close(action(&data.episode(0).actions[..widths.1]), "first_action", 1e-7);
    let actions = data.episode(last).actions;
    close(action(&actions[actions.len() - widths.1..]), "last_action", 1e-7);
    for boundary in expected["boundaries"].as_array().unwrap() {
        let episode = boundary[0].as_u64().unwrap() as usize;
        for (row, found) in [(1, state(episode, true)), (2, state(episode + 1, false))] {
            let expected =
                boundary[row].as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32);
            assert_eq!(
                found.iter().map(|&value| value as f32).collect::<Vec<_>>(),
                expected.collect::<Vec<_>>(),
                "{what}"
            );
        }
    }
}
