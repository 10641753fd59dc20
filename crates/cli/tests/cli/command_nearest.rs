//! Tests of `isochrone nearest`.

use crate::run::{Outcome, isochrone, isochrone_in, workspace};
use serde_json::Value;
use std::path::Path;

fn train(folder: &Path, data: &str, arguments: &str) {
    let command = format!(
        "train --data {data} --size small --threads 1 --steps 20 batch_size=32 --run runs/a {arguments}"
    );
    let trained = isochrone_in(folder, &command);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
}

fn walks(folder: &Path) {
    std::fs::copy(workspace().join("examples/walks.csv"), folder.join("walks.csv")).unwrap();
    train(folder, "walks.csv", "--observations x,y");
}

fn report(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

/// Returns names and steps of all rows.
fn rows(report: &Value) -> Vec<(String, f64)> {
    let row = |row: &Value| (row["state"].as_str().unwrap().to_owned(), row["steps"].as_f64().unwrap());
    report["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn help() {
    insta::assert_snapshot!("help_nearest", isochrone("nearest --help").transcript());
}

#[test]
fn the_nearest_states_are_those_with_the_smallest_distances() {
    let folder = tempfile::tempdir().unwrap();
    walks(folder.path());
    for (flag, other) in [("--to", "--from"), ("--from", "--to")] {
        let command = format!("nearest runs/a {flag} @3:2 -k 5 --json");
        let found = report(&isochrone_in(folder.path(), &command));
        assert_eq!(
            (found["search"].as_str(), found["direction"].as_str()),
            (Some("exact"), Some(&flag[2..]))
        );
        let distance = format!("distance runs/a {flag} @3:2 {other} all --each --distance learned --json");
        let all = report(&isochrone_in(folder.path(), &distance));
        let mut all: Vec<f64> =
            all["rows"].as_array().unwrap().iter().map(|row| row["steps"].as_f64().unwrap()).collect();
        all.sort_by(f64::total_cmp);
        let found = rows(&found);
        assert_eq!(found.len(), 5);
        for ((_, found), expected) in found.iter().zip(&all) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }
    let refined = report(&isochrone_in(folder.path(), "nearest runs/a --to @3:2 --distance refined --json"));
    assert_eq!(rows(&refined)[0], ("@3:2".to_owned(), 0.0));
}

#[test]
fn errors_name_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    walks(folder.path());
    for (arguments, expected) in [
        ("", "required"),
        ("--to 0,0 --from 0,0", "cannot be used with"),
        ("--to end", "--to end: a goal set, but one state is needed"),
        ("--from @3:0..2", "--from @3:0..2: 2 states"),
        ("--to 0,0 -k 0", "0 is not between 1 and 100000"),
    ] {
        let outcome = isochrone_in(folder.path(), &format!("nearest runs/a {arguments}"));
        assert_eq!(outcome.code, Some(2), "{arguments}");
        assert!(outcome.stderr.contains(expected), "{arguments}: {}", outcome.stderr);
    }
    #[cfg(not(feature = "nearest"))]
    {
        let outcome = isochrone_in(folder.path(), "nearest runs/a --check 10");
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains("hint: build it with --features nearest"), "{}", outcome.stderr);
    }
}

#[cfg(feature = "nearest")]
mod index {
    use super::*;
    use std::fs;

    /// Trains on enough states for an index.
    fn nav2d(folder: &Path) {
        let made = isochrone_in(folder, "envs generate nav2d --episodes 2000 -o nav2d.npz");
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        train(folder, "nav2d.npz", "");
    }

    #[test]
    fn the_index_is_stored_and_built_again_if_it_is_stale_or_corrupt() {
        let folder = tempfile::tempdir().unwrap();
        nav2d(folder.path());
        let query = |arguments: &str| {
            isochrone_in(folder.path(), &format!("nearest runs/a --to 1,2 {arguments} --json"))
        };
        let contents = folder.path().join("runs/a/nearest/index.json");
        let exact = report(&query("--exact"));
        assert!(!contents.exists());
        let built = report(&query(""));
        assert_eq!((built["search"].as_str(), exact["search"].as_str()), (Some("index"), Some("exact")));
        let shared = rows(&built).into_iter().filter(|row| rows(&exact).contains(row)).count();
        assert!(shared >= 9, "{built} {exact}");
        let first = fs::read(&contents).unwrap();
        assert_eq!(report(&query("")), built);
        assert_eq!(fs::read(&contents).unwrap(), first);
        // A corrupt index is replaced by the same one.
        fs::write(folder.path().join("runs/a/nearest/shard-0000.usearch"), b"corrupt").unwrap();
        let repaired = query("");
        assert!(repaired.stderr.contains("warning: "), "{}", repaired.stderr);
        assert_eq!(report(&repaired), built);
        assert_eq!(fs::read(&contents).unwrap(), first);
        // Another checkpoint has another index.
        let resumed = isochrone_in(folder.path(), "train --resume runs/a --steps 25");
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        report(&query("--checkpoint last"));
        assert_ne!(fs::read(&contents).unwrap(), first);
    }

    #[test]
    fn the_check_reports_recall_in_both_directions() {
        let folder = tempfile::tempdir().unwrap();
        nav2d(folder.path());
        let found = report(&isochrone_in(folder.path(), "nearest runs/a --check 40 --json"));
        assert_eq!((found["states"].as_u64(), found["k"].as_u64()), (Some(27_781), Some(10)));
        let rows = found["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            assert!(row["recall"].as_f64().unwrap() >= 0.99, "{row}");
        }
    }
}
