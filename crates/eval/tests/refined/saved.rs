//! Saved graphs: bit-identical to the graph that was built, and checked against the data.

use isochrone_core::{TemporalDistance as _, rng};
use isochrone_data::{Dataset, arrays};
use isochrone_eval::refined::{Reading, RefinedConfig, RefinedDistance};
use std::time::Instant;

/// Returns a dataset of walks in the plane with random turns.
fn data(seed: u64) -> Dataset {
    walks(seed, 30)
}

fn walks(seed: u64, episodes: usize) -> Dataset {
    let mut random = rng::stream(seed, 0);
    let episodes: Vec<(Vec<f32>, Vec<f32>)> = (0..episodes)
        .map(|_| {
            let (mut place, mut heading) = ([0.0, 0.0], 0.0);
            let mut rows = Vec::new();
            for _ in 0..200 {
                rows.extend(place.map(|x: f64| x as f32));
                heading += 0.3 * rng::normal(&mut random);
                place = [place[0] + 0.1 * heading.cos(), place[1] + 0.1 * heading.sin()];
            }
            (rows, Vec::new())
        })
        .collect();
    Dataset::from_arrays(2, 0, episodes).unwrap()
}

#[test]
fn an_opened_graph_equals_the_one_that_was_built() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refined.npz");
    let (data, config) = (data(1), RefinedConfig::default());
    let built = RefinedDistance::fit(&data, &config).unwrap();
    built.save(&path, &data, &config).unwrap();
    let opened = RefinedDistance::open(&path, &data, &config).unwrap().unwrap();
    assert_eq!((opened.n_landmarks(), opened.n_edges()), (built.n_landmarks(), built.n_edges()));
    assert_eq!((opened.n_jumps(), opened.radius_steps()), (built.n_jumps(), built.radius_steps()));
    assert_eq!(opened.metric(), built.metric());
    let (from, to) = (data.episode(0).observations, data.episode(7).observations);
    for reading in [Reading::Fastest, Reading::Typical] {
        let steps =
            |distance: &RefinedDistance| distance.with_reading(reading).all_pairs_steps(from, to).unwrap();
        assert!(steps(&opened) == steps(&built), "{reading:?}");
        let path =
            |distance: &RefinedDistance| distance.with_reading(reading).path(&from[..2], &to[200..202]);
        assert_eq!(path(&opened), path(&built));
    }
}

#[test]
fn a_graph_of_other_data_or_settings_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refined.npz");
    let (mine, config) = (data(1), RefinedConfig::default());
    RefinedDistance::fit(&mine, &config).unwrap().save(&path, &mine, &config).unwrap();
    assert!(RefinedDistance::open(&path, &data(2), &config).unwrap().is_none());
    let others = [
        RefinedConfig { seed: 1 << 40, ..config.clone() },
        RefinedConfig { landmarks: 100, ..config.clone() },
        RefinedConfig { table_landmarks: 0, ..config.clone() },
    ];
    for other in others {
        assert!(RefinedDistance::open(&path, &mine, &other).unwrap().is_none(), "{other:?}");
    }
}

#[test]
fn a_file_that_contradicts_the_data_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refined.npz");
    let (data, config) = (data(1), RefinedConfig::default());
    RefinedDistance::fit(&data, &config).unwrap().save(&path, &data, &config).unwrap();
    let (bytes, original) = (std::fs::read(&path).unwrap(), arrays::read(&path).unwrap());
    let error = || RefinedDistance::open(&path, &data, &config).err().map(|error| error.to_string());
    assert_eq!(error(), None);
    // Valid checksums and wrong values: the array, the index in it, and the new value.
    for (name, at, value) in [
        ("weights", 0, f64::NAN),
        ("weights", 0, 7.0),
        // Its hops overflow.
        ("weights", 0, 1e40),
        ("radius_and_jumps", 0, -1.0),
        ("landmark_rows", 3, 1e9),
        ("landmark_rows", 3, 0.5),
        ("fastest", 0, 1e9),
        ("fastest", 1, -1.0),
        ("fastest", 2, 5000.0),
        ("fastest", 2, 0.0),
        ("fastest", 3, 1e300),
        ("typical", 3, 6000.0),
        ("typical", 4, f64::NAN),
        ("typical", 4, 3000.0),
    ] {
        let mut changed = original.clone();
        changed.iter_mut().find(|(other, _)| other == name).unwrap().1.values[at] = value;
        let changed: Vec<(&str, _)> =
            changed.iter().map(|(name, matrix)| (name.as_str(), matrix.clone())).collect();
        arrays::write(&path, &changed).unwrap();
        let error = error().unwrap_or_default();
        assert!(error.contains("refined.npz") && error.contains("hint:"), "{name} {at} {value}: {error}");
    }
    let fewer: Vec<(&str, _)> =
        original[..4].iter().map(|(name, matrix)| (name.as_str(), matrix.clone())).collect();
    arrays::write(&path, &fewer).unwrap();
    assert!(error().unwrap().contains("missing"));
    for length in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(error().is_some(), "{length}");
    }
}

/// Opening skips the choice of landmarks and the assignment of rows. The fastest of three runs
/// each, so that it passes on a busy machine.
#[test]
fn opening_is_faster_than_building() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refined.npz");
    let (data, config) = (walks(1, 400), RefinedConfig::default());
    let built = RefinedDistance::fit(&data, &config).unwrap();
    built.save(&path, &data, &config).unwrap();
    let fastest = |run: &dyn Fn()| {
        let time = |_| {
            let start = Instant::now();
            run();
            start.elapsed()
        };
        (0..3).map(time).min().unwrap()
    };
    let build = fastest(&|| drop(RefinedDistance::fit(&data, &config).unwrap()));
    let open = fastest(&|| assert!(RefinedDistance::open(&path, &data, &config).unwrap().is_some()));
    assert!(open < build, "{build:?} to build, {open:?} to open");
}
