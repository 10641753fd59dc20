//! A small version of the distance benchmark: the refined distance agrees with the exact solver.

use isochrone_learn::distill::DistillHead;
use isochrone_studies::{DistanceBenchmark, DistanceEnvironment, DistanceMethod, DistanceRow, EpisodeLeak};

fn row<'a>(rows: &'a [DistanceRow], environment: &str, reading: &str) -> &'a DistanceRow {
    rows.iter()
        .find(|row| row.environment == environment && row.reading == reading)
        .unwrap_or_else(|| panic!("{environment} has no {reading}"))
}

/// A distilled network agrees with the refined distance on held-out states, also one step behind on
/// a one-way ring.
#[test]
fn distilled_distances_equal_refined_distances() {
    let folder = tempfile::tempdir().unwrap();
    let benchmark = DistanceBenchmark {
        environments: vec![DistanceEnvironment::Grid(0), DistanceEnvironment::Ring(2)],
        methods: vec![DistanceMethod::Refined, DistanceMethod::Distilled(DistillHead::Pair)],
        updates: 120,
        ..DistanceBenchmark::quick()
    };
    let rows = benchmark.run(folder.path(), &|_| {}).unwrap();
    for environment in ["grid-0", "ring-noise-0.02"] {
        let (refined, network) = (row(&rows, environment, "fastest"), row(&rows, environment, "pair"));
        let lost = refined.spearman.unwrap() - network.spearman.unwrap();
        let error = network.median_relative_error.unwrap() - refined.median_relative_error.unwrap();
        assert!(lost <= 0.005 && error <= 0.02, "{network:?}");
        assert!((0.8..=1.5).contains(&network.one_ahead.unwrap()), "{network:?}");
        assert_eq!((network.largest_self_distance, network.unreached), (0.0, 0.0));
    }
    let (behind, exact) = row(&rows, "ring-noise-0.02", "pair").one_behind.unwrap();
    assert!((behind / exact - 1.0).abs() <= 0.15, "{behind} instead of {exact}");
}

#[test]
fn refined_distances_equal_exact_distances() {
    let folder = tempfile::tempdir().unwrap();
    let benchmark = DistanceBenchmark {
        methods: vec![DistanceMethod::Euclidean, DistanceMethod::Refined],
        ..DistanceBenchmark::quick()
    };
    let rows = benchmark.run(folder.path(), &|_| {}).unwrap();
    let grid = row(&rows, "grid-0", "fastest");
    assert!(grid.spearman.unwrap() > 0.9999 && grid.median_relative_error.unwrap() < 1e-6, "{grid:?}");
    assert_eq!(grid.unreached, 0.0);
    assert_eq!((grid.triangle_violations, grid.above_recorded_lag, grid.below_speed_limit), (0.0, 0.0, 0.0));
    let ring = row(&rows, "ring-noise-0.02", "fastest");
    assert!(ring.spearman.unwrap() >= 0.99 && ring.median_relative_error.unwrap() <= 0.1, "{ring:?}");
    let (behind, exact) = ring.one_behind.unwrap();
    assert!((behind / exact - 1.0).abs() <= 0.15 && ring.one_ahead.unwrap() <= 2.0, "{ring:?}");
    assert_eq!(ring.largest_self_distance, 0.0);
    // Demonstrations: failures that are labeled a success do not mislead it.
    let arm = row(&rows, "arm", "fastest");
    let within = |kind: &str| arm.spearman_within_episodes[kind];
    assert!(arm.spearman.unwrap() >= 0.95 && within("clean") >= 0.985, "{arm:?}");
    assert!(
        within("dropped cube, labeled success") > 0.5 && within("missed grasp, labeled success") > 0.5,
        "{arm:?}"
    );
    // Straight lines ignore walls and directions.
    let straight = rows.iter().find(|row| row.environment == ring.environment && row.method == "euclidean");
    assert!(straight.unwrap().spearman.unwrap() < 0.2);
    // Measurements are stored, and the report is written again from them.
    std::fs::remove_file(folder.path().join("results.json")).unwrap();
    assert_eq!(benchmark.run(folder.path(), &|_| {}).unwrap(), rows);
    for file in ["results.json", "README.md", "readings.svg", "readings.png"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
}

#[test]
fn rank_correlations_are_measured_during_training() {
    let folder = tempfile::tempdir().unwrap();
    let study = EpisodeLeak {
        methods: vec![isochrone_learn::Algorithm::Cmd1],
        batch_size: 256,
        rows_per_episode: vec![1, 128],
        updates: 40,
        seed: 0,
        device: isochrone_learn::ComputeDevice::Cpu,
    };
    let curves = study.run(folder.path(), &|_| {}).unwrap();
    assert_eq!(curves.len(), 2);
    for curve in &curves {
        assert_eq!((curve.steps.len(), curve.steps[0], curve.steps[19]), (20, 2, 40));
        assert_eq!((curve.steps_to_go.len(), curve.across_episodes.len()), (20, 20));
        assert!(curve.across_episodes.iter().all(|rank| rank.abs() <= 1.0), "{curve:?}");
    }
    assert_ne!(curves[0].steps_to_go, curves[1].steps_to_go, "batches differ");
    for file in ["results.json", "curves.svg", "curves.png"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
}
