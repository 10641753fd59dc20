//! Graphs that are built in parts: bit-identical to those that are built at once.

use isochrone_core::{TemporalDistance as _, rng};
use isochrone_data::{
    Dataset,
    shards::{Part, Shards, StateColumns},
    tables::{Column, write_parquet},
};
use isochrone_eval::refined::{GraphError, GraphPart, Landmarks, Reading, RefinedConfig, RefinedDistance};
use std::{path::Path, sync::Arc};

/// Returns walks in the plane with random turns and a few jumps.
fn walks(episodes: usize) -> Vec<Vec<f32>> {
    let mut random = rng::stream(1, 0);
    let walk = |_| {
        let (mut place, mut heading) = ([0.0f64; 2], 0.0);
        let mut rows = Vec::new();
        for step in 0..200 {
            rows.extend(place.map(|x| x as f32));
            heading += 0.3 * rng::normal(&mut random);
            let length = if step == 120 { 5.0 } else { 0.1 };
            place = [place[0] + length * heading.cos(), place[1] + length * heading.sin()];
        }
        rows
    };
    (0..episodes).map(walk).collect()
}

/// Writes episodes in shards of 450 rows, which end within episodes.
fn write(folder: &Path, episodes: &[Vec<f32>]) -> Shards {
    let numbered = episodes.iter().enumerate();
    let rows: Vec<[f64; 3]> = numbered
        .flat_map(|(episode, rows)| {
            rows.chunks(2).map(move |row| [row[0], row[1], episode as f32].map(f64::from))
        })
        .collect();
    std::fs::create_dir_all(folder).unwrap();
    for (shard, rows) in rows.chunks(450).enumerate() {
        let column = |at: usize| Column::Numbers(rows.iter().map(|row| row[at]).collect());
        let columns = [("obs_x", column(0)), ("obs_y", column(1)), ("episode", column(2))];
        write_parquet(&folder.join(format!("{shard:03}.parquet")), &columns).unwrap();
    }
    Shards::open(folder).unwrap()
}

fn columns() -> StateColumns {
    StateColumns { width: 2, ..StateColumns::default() }
}

fn parts(landmarks: &Arc<Landmarks>, shards: &Shards, count: u64) -> Vec<GraphPart> {
    let part = |index| GraphPart::build(landmarks, shards, Part::new(index, count).unwrap()).unwrap();
    (0..count).map(part).collect()
}

fn merged(parts: impl IntoIterator<Item = GraphPart>) -> GraphPart {
    parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap()
}

#[test]
fn a_graph_in_parts_equals_the_graph_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (episodes, config) = (walks(20), RefinedConfig { landmarks: 300, ..RefinedConfig::default() });
    let shards = write(folder.path(), &episodes);
    let data = Dataset::from_arrays(2, 0, episodes.iter().map(|rows| (rows.clone(), Vec::new()))).unwrap();
    let landmarks = Arc::new(Landmarks::choose(&shards, &columns(), 1_000_000, &config).unwrap());
    let once = GraphPart::build(&landmarks, &shards, Part::ALL).unwrap();
    let fitted = RefinedDistance::fit(&data, &config).unwrap();
    assert_eq!(fitted.n_jumps(), 20);
    for count in [1, 2, 3, 9, 40] {
        let parts = parts(&landmarks, &shards, count);
        assert_eq!(merged(parts.clone()), once, "{count} parts");
        assert_eq!(merged(parts.into_iter().rev()), once, "{count} parts in reverse");
    }
    let distance = once.distance().unwrap();
    assert_eq!(distance.metric(), fitted.metric());
    assert_eq!(distance.landmark_rows(), fitted.landmark_rows());
    assert_eq!(
        (distance.n_edges(), distance.n_jumps(), distance.radius_steps()),
        (fitted.n_edges(), fitted.n_jumps(), fitted.radius_steps())
    );
    let (from, to) = (&episodes[0][..], &episodes[7][..]);
    assert!(distance.all_pairs_steps(from, to).unwrap() == fitted.all_pairs_steps(from, to).unwrap());
    for goal in to.chunks(2).step_by(17) {
        assert_eq!(distance.path(&from[..2], goal).unwrap(), fitted.path(&from[..2], goal).unwrap());
    }
    assert!(!distance.has_reading(Reading::Typical) && fitted.has_reading(Reading::Typical));
    let error = distance.save(&folder.path().join("x"), &data, &config).unwrap_err();
    assert!(error.to_string().contains("no typical reading"), "{error}");
}

#[test]
fn landmarks_of_a_sample_are_rows_of_the_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let episodes = walks(40);
    let shards = write(folder.path(), &episodes);
    let landmarks =
        Arc::new(Landmarks::choose(&shards, &columns(), 2000, &RefinedConfig::default()).unwrap());
    let all = episodes.concat();
    let graph = merged(parts(&landmarks, &shards, 5));
    assert_eq!(graph, GraphPart::build(&landmarks, &shards, Part::ALL).unwrap());
    let distance = graph.distance().unwrap();
    let rows = distance.landmark_rows();
    assert!(rows.len() > 50 && rows.iter().any(|row| *row > 4000), "{} landmarks", rows.len());
    for &row in rows {
        let state = &all[2 * row as usize..][..2];
        // Landmarks are at a distance of 0 from themselves, and of no other landmark.
        assert!(!distance.extrapolates(state).unwrap()[0]);
    }
    let other = RefinedConfig { seed: 1, ..RefinedConfig::default() };
    let other = Landmarks::choose(&shards, &columns(), 2000, &other).unwrap();
    assert!(other != *landmarks, "another seed has another sample");
}

#[test]
fn states_that_are_not_finite_are_in_no_segment() {
    let folder = tempfile::tempdir().unwrap();
    let mut episodes = walks(20);
    let whole = episodes.clone();
    // Two halves with a missing row between them.
    episodes[3][2 * 100] = f32::NAN;
    let shards = write(folder.path(), &episodes);
    let landmarks =
        Arc::new(Landmarks::choose(&shards, &columns(), 1_000_000, &RefinedConfig::default()).unwrap());
    let graph = merged(parts(&landmarks, &shards, 3));
    assert_eq!(graph, GraphPart::build(&landmarks, &shards, Part::ALL).unwrap());
    let distance = graph.distance().unwrap();
    assert_eq!(distance.n_jumps(), 22);
    assert!(distance.all_pairs_steps(&whole[3], &whole[3]).unwrap().iter().all(|steps| !steps.is_nan()));
}

#[test]
fn files_are_exact_and_corrupt_ones_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let shards = write(&folder.path().join("in"), &walks(10));
    let landmarks = Landmarks::choose(&shards, &columns(), 1_000_000, &RefinedConfig::default()).unwrap();
    let path = folder.path().join("landmarks.json");
    landmarks.save(&path).unwrap();
    assert_eq!(Landmarks::open(&path).unwrap(), landmarks);
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to) in [("\"format\":1", "\"format\":9"), ("\"n_rows\":2000", "\"n_rows\":3"), ("{", "[")] {
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = Landmarks::open(&path).unwrap_err().to_string();
        assert!(error.contains("landmarks.json") && error.contains("hint:"), "{error}");
    }
    let landmarks = Arc::new(landmarks);
    let part = GraphPart::build(&landmarks, &shards, "1/2".parse().unwrap()).unwrap();
    let path = folder.path().join("1.parquet");
    part.save(&path).unwrap();
    assert_eq!(GraphPart::open(&path).unwrap(), part);
    assert_eq!(GraphPart::from_bytes(part.to_bytes()).unwrap(), part);
    let bytes = std::fs::read(&path).unwrap();
    let mut random = rng::stream(3, 0);
    for _ in 0..200 {
        let mut corrupt = bytes.clone();
        let at = rng::below(&mut random, corrupt.len());
        corrupt[at] ^= 1 << rng::below(&mut random, 8);
        // A bit that does not matter may change nothing, but no file may cause a panic.
        if let Ok(found) = GraphPart::from_bytes(corrupt) {
            let _ = found.distance();
        }
    }
    assert!(GraphPart::open(&folder.path().join("in/000.parquet")).is_err());
}

#[test]
fn parts_that_do_not_fit_together_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (episodes, config) = (walks(10), RefinedConfig::default());
    let shards = write(&folder.path().join("in"), &episodes);
    let landmarks = Arc::new(Landmarks::choose(&shards, &columns(), 1_000_000, &config).unwrap());
    let parts = parts(&landmarks, &shards, 3);
    let [a, b, c] = &parts[..] else { unreachable!() };
    let error = a.clone().merge(a.clone()).unwrap_err();
    assert!(matches!(error, GraphError::Overlap { .. }), "{error}");
    for (some, missing) in [(a.clone().merge(c.clone()), 450..1350), (b.clone().merge(c.clone()), 0..450)] {
        match some.unwrap().distance().err() {
            Some(GraphError::Missing { rows, n_rows: 2000 }) => assert_eq!(rows, missing),
            other => panic!("{other:?}"),
        }
    }
    let few = Landmarks::choose(&shards, &columns(), 500, &config).unwrap();
    let other = GraphPart::build(&Arc::new(few), &shards, "2/3".parse().unwrap()).unwrap();
    assert!(matches!(a.clone().merge(other), Err(GraphError::OtherLandmarks)));
    let shards = write(&folder.path().join("other"), &episodes[1..]);
    assert!(matches!(GraphPart::build(&landmarks, &shards, Part::ALL), Err(GraphError::OtherData)));
}
