//! Tests of `isochrone score`.

use crate::{
    run::isochrone_in,
    score_data::{column, contents, train, write_shards},
};
use isochrone::data::tables::Matrix;
use std::path::Path;

fn succeeds(folder: &Path, arguments: &str) -> String {
    let outcome = isochrone_in(folder, arguments);
    assert_eq!(outcome.code, Some(0), "{arguments}: {}", outcome.stderr);
    outcome.stdout
}

/// Distances of the same states by `isochrone distance`.
fn expected(folder: &Path, arguments: &str) -> Vec<f32> {
    succeeds(folder, &format!("distance runs/a --from all {arguments} -o steps.npy --force"));
    Matrix::read(&folder.join("steps.npy")).unwrap().values.iter().map(|value| *value as f32).collect()
}

fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        let is_close = found == expected || (found - expected).abs() <= 1e-4 * expected.abs().max(1.0);
        assert!(is_close, "{what}, row {row}: {found} and {expected}");
    }
}

#[test]
fn scores_are_the_distances_of_the_same_states() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    train(path);
    write_shards(&path.join("in"), "", 300);
    for (number, arguments) in [
        "--to 5,5 --distance learned",
        "--to 5,5 --distance calibrated",
        "--to 5,5",
        "--to end",
        "--to @3:last --distance typical",
        "--to x=5,y=5 --within 2",
    ]
    .into_iter()
    .enumerate()
    {
        succeeds(path, &format!("score in out{number} --run runs/a {arguments} --keep episode"));
        let found = column(&path.join(format!("out{number}")), "distance_steps");
        assert_close(&found, &expected(path, arguments), arguments);
    }
    // The frame rate of the walks is that of their times.
    succeeds(path, "score in fps --run runs/a --to 5,5 --distance learned --fps 4");
    let [steps, seconds] = ["distance_steps", "distance_seconds"].map(|name| column(&path.join("fps"), name));
    assert!(steps.iter().zip(seconds).all(|(steps, seconds)| *steps / 4.0 == seconds));
    assert_eq!(column(&path.join("fps"), "x"), column(&path.join("in"), "x"), "all columns are kept");
}

#[test]
fn parts_and_threads_do_not_change_a_byte_and_complete_files_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    train(path);
    let shards = write_shards(&path.join("in"), "", 100);
    let score = |output: &str, part: &str| {
        succeeds(path, &format!("score in {output} --run runs/a --to last --distance learned --json {part}"))
    };
    score("once", "--threads 2");
    for part in 1..=3 {
        score("parts", &format!("--part {part}/3 --threads 1"));
    }
    assert_eq!(contents(&path.join("once")).len(), shards);
    assert!(contents(&path.join("once")) == contents(&path.join("parts")));
    std::fs::remove_file(path.join("once/003.parquet")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&score("once", "")).unwrap();
    let row = &report["rows"][0];
    assert_eq!(row["files"].as_u64().unwrap() - row["skipped_files"].as_u64().unwrap(), 1, "{report}");
    assert!(contents(&path.join("once")) == contents(&path.join("parts")));
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    train(path);
    write_shards(&path.join("in"), "", 500);
    succeeds(path, "score in out --run runs/a --to 5,5 --distance learned");
    for (arguments, expected) in [
        ("score in out --run runs/a --to 4,5 --distance learned", "another distance or goal"),
        ("score in out --run runs/a --to 5,5 --distance learned --keep none", "from other columns"),
        ("score in in/out --run runs/a --to 5,5", "part of the dataset"),
        ("score none out --run runs/a --to 5,5", "none"),
        ("score in new --run runs/a --to 5", "not 2 finite numbers"),
        ("score in new --run runs/a --to 5,5 --part 3/2", "not a part"),
        ("score in new --run runs/a --to 5,5 --observations x", "of 1 dimensions, not 2"),
        ("score in new --run runs/a --goals x,z", "no column 'z'"),
        ("score in new --run runs/a --to last --episode nothing", "no column 'nothing'"),
        ("score in new --run runs/a --to 5,5 --keep z", "no column 'z'"),
        ("score in new --run runs/a --to 5,5 --fps 0", "--fps 0"),
        ("score in new --run runs/a --to 5,5 --within 3", "--within does not apply"),
        ("score in new --run runs/a --to all", "give one"),
        ("score in new --run runs/a", "--to"),
        ("score in new --to 5,5", "--run"),
        ("score in new --graph none.parquet --to 5,5", "none.parquet"),
    ] {
        isochrone_in(path, arguments).assert_refused(arguments, expected);
    }
}
