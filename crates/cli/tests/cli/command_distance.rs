//! Tests of `isochrone distance`: goal sets, strides, files of pairs, output files.

use crate::run::{Outcome, isochrone_in, workspace};
use isochrone::data::tables::{Matrix, write_npy};
use std::path::Path;

/// Trains a short run on a table in a directory.
fn train(folder: &Path, data: &str) {
    let arguments = format!(
        "train --data {data} --observations x,y --size small --threads 1 --steps 20 batch_size=32 --run runs/a"
    );
    let trained = isochrone_in(folder, &arguments);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
}

fn walks(folder: &Path) {
    std::fs::copy(workspace().join("examples/walks.csv"), folder.join("walks.csv")).unwrap();
    train(folder, "walks.csv");
}

/// Returns names and steps of all rows.
fn rows(outcome: &Outcome) -> Vec<(String, String, f64)> {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let text = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
    let steps = |row: &serde_json::Value| row["steps"].as_f64().unwrap_or(f64::INFINITY);
    let rows = report["rows"].as_array().unwrap();
    rows.iter().map(|row| (text(row, "from"), text(row, "to"), steps(row))).collect()
}

#[test]
fn the_distance_to_a_set_is_that_of_its_nearest_state_or_a_quantile() {
    let folder = tempfile::tempdir().unwrap();
    walks(folder.path());
    let query =
        |arguments: &str| rows(&isochrone_in(folder.path(), &format!("distance runs/a {arguments} --json")));
    for distance in ["learned", "refined", "typical"] {
        let each = query(&format!("--from @3:2 --to end --each --distance {distance}"));
        assert_eq!((each.len(), each[5].1.starts_with("@5:")), (24, true));
        let mut steps: Vec<f64> = each.iter().map(|row| row.2).collect();
        steps.sort_unstable_by(f64::total_cmp);
        let nearest = query(&format!("--from @3:2 --to end --distance {distance}"));
        assert_eq!((nearest.len(), nearest[0].1.as_str()), (1, "end"));
        // The refined distance uses a faster method for the nearest state, through the landmark of
        // each state only.
        let slack = if distance == "learned" { 1e-6 } else { 2.0 };
        assert!((nearest[0].2 - steps[0]).abs() <= slack, "{distance}: {} {}", nearest[0].2, steps[0]);
        let quantile = query(&format!("--from @3:2 --to end --quantile 0.5 --distance {distance}"))[0].2;
        let middle = 0.5 * (steps[11] + steps[12]);
        assert!(quantile == middle || (quantile - middle).abs() < 1e-6, "{distance}: {quantile} {middle}");
        // The end of the same episode is excluded.
        let mut others: Vec<f64> =
            each.iter().filter(|row| !row.1.starts_with("@3:")).map(|row| row.2).collect();
        others.sort_unstable_by(f64::total_cmp);
        let other = query(&format!("--from @3:2 --to end --other-episodes --distance {distance}"))[0].2;
        assert!(other == others[0] || (other - others[0]).abs() < 1e-6, "{distance}: {other} {}", others[0]);
    }
}

#[test]
fn slices_files_and_strides_select_states() {
    let folder = tempfile::tempdir().unwrap();
    walks(folder.path());
    let query =
        |arguments: &str| rows(&isochrone_in(folder.path(), &format!("distance runs/a {arguments} --json")));
    let strided = query("--from @0 --stride 10 --to @0:last --distance learned");
    let names: Vec<&str> = strided.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(names[..3], ["@0:0", "@0:10", "@0:20"]);
    let all = query("--from all --stride 100 --to @0:last --distance learned");
    assert!(all.len() > 3 && all[1].0 == "@1:39" || all[1].0.starts_with('@'), "{all:?}");
    // Columns by name and by number; a slice equals its states one by one.
    let slice = query("--from @0:0 --to x=3,y=3 --within 1 --distance learned");
    assert_eq!(slice[0].2, query("--from @0:0 --to 0=3,1=3 --within 1 --distance learned")[0].2);
    let members = query("--from @0:0 --to y=3,x=3 --within 1 --each --distance learned");
    let nearest = members.iter().map(|row| row.2).fold(f64::INFINITY, f64::min);
    assert!((slice[0].2 - nearest).abs() < 1e-6, "{} {nearest}", slice[0].2);
    let (points, two) = (["3.5,2", "1,4"], "--from @0:0 --distance learned");
    let points: Vec<f64> = points.iter().map(|point| query(&format!("{two} --to {point}"))[0].2).collect();
    std::fs::write(folder.path().join("goals.csv"), "name,y,x\n1,2,3.5\n2,4,1\n").unwrap();
    write_npy(&folder.path().join("goals.npy"), &[2, 2], &[3.5, 2.0, 1.0, 4.0]).unwrap();
    for file in ["goals.csv", "goals.npy"] {
        let each: Vec<f64> = query(&format!("{two} --to {file} --each")).iter().map(|row| row.2).collect();
        assert!(each.iter().zip(&points).all(|(a, b)| (a - b).abs() < 1e-6), "{file}: {each:?} {points:?}");
        let nearest = query(&format!("{two} --to {file}"));
        assert!((nearest[0].2 - points[0].min(points[1])).abs() < 1e-6, "{file}");
    }
}

#[test]
fn pairs_are_read_from_files_and_distances_written_to_files() {
    let folder = tempfile::tempdir().unwrap();
    walks(folder.path());
    let run = |arguments: &str| isochrone_in(folder.path(), &format!("distance runs/a {arguments}"));
    let path = |name: &str| folder.path().join(name);
    let queried = "--from @0 --stride 7 --to @1:last --to end --distance learned";
    let expected = rows(&run(&format!("{queried} --json")));
    for name in ["steps.csv", "steps.parquet", "steps.npy"] {
        let written = run(&format!("{queried} -o {name}"));
        assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""), "{}", written.stderr);
        let again = run(&format!("{queried} -o {name}"));
        assert!(again.code == Some(2) && again.stderr.contains("already exists"), "{}", again.stderr);
        assert_eq!(run(&format!("{queried} -o {name} --force")).code, Some(0));
    }
    let matrix = Matrix::read(&path("steps.npy")).unwrap();
    assert_eq!((matrix.n_rows(), matrix.width), (expected.len() / 2, 2));
    assert!(matrix.values.iter().zip(&expected).all(|(value, row)| (value - row.2).abs() < 1e-9));
    let table = std::fs::read_to_string(path("steps.csv")).unwrap();
    assert!(table.starts_with("from,to,steps,seconds,nats\n@0:0,@1:"), "{table}");
    assert_eq!(table.lines().count(), expected.len() + 1);
    assert!(std::fs::read(path("steps.parquet")).unwrap().starts_with(b"PAR1"));

    std::fs::write(
        path("pairs.csv"),
        "note,to,from\na,end,@0:7\nb,@1:last,@0:0\nc,end,@0:0\nd,\"3,3\",\"1,2\"\n",
    )
    .unwrap();
    let listed = rows(&run("--pairs pairs.csv --distance learned --json"));
    let steps =
        |from: &str, to: &str| expected.iter().find(|row| row.0 == from && row.1.starts_with(to)).unwrap().2;
    let known = [steps("@0:7", "end"), steps("@0:0", "@1:"), steps("@0:0", "end")];
    assert!(
        listed.iter().zip(known).all(|(row, known)| (row.2 - known).abs() < 1e-6),
        "{listed:?} {known:?}"
    );
    assert_eq!((listed.len(), listed[3].0.as_str(), listed[3].1.as_str()), (4, "1,2", "3,3"));
}

#[test]
fn success_states_are_those_marked_by_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "episode,x,y,action_x,success\n".to_owned();
    for episode in 0..6 {
        for step in 0..30 {
            // Every other episode succeeds.
            let success = u8::from(step == 29 && episode % 2 == 0);
            table +=
                &format!("{episode},{},{},1,{success}\n", 0.1 * f64::from(step), 0.2 * f64::from(episode));
        }
    }
    std::fs::write(folder.path().join("marked.csv"), table).unwrap();
    train(folder.path(), "marked.csv");
    let queried = isochrone_in(folder.path(), "distance runs/a --from @0:0 --to success --each --json");
    let goals: Vec<String> = rows(&queried).into_iter().map(|row| row.1).collect();
    assert_eq!(goals, ["@0:29", "@2:29", "@4:29"]);
    assert!(queried.stderr.contains("column 'success'"), "{}", queried.stderr);
    let one = rows(&isochrone_in(folder.path(), "distance runs/a --from @0:9 --to success --json"));
    assert!((one[0].2 - 20.0).abs() < 3.0, "{one:?}");
}

#[test]
fn wrong_selections_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    walks(folder.path());
    std::fs::write(folder.path().join("wide.csv"), "1,2,3\n").unwrap();
    std::fs::write(folder.path().join("empty.csv"), "").unwrap();
    std::fs::write(folder.path().join("lone.csv"), "from\n@0:0\n").unwrap();
    std::fs::write(folder.path().join("ranges.csv"), "from,to\n@0,end\n").unwrap();
    std::fs::write(folder.path().join("bad.csv"), "from,to\n@0:0,endd\n").unwrap();
    std::fs::write(folder.path().join("not.npy"), "hello").unwrap();
    let rows = "0,1,2\n0,nan,3\n0,2,3\n1,2,3\n1,3,3\n";
    std::fs::write(folder.path().join("nan.csv"), format!("episode,x,y\n{rows}")).unwrap();
    for (arguments, expected) in [
        ("--from 0,0 --to ends", "'ends' is not a point"),
        ("--from 0,0 --to success", "mark no success"),
        ("--from 0,0 --to x=1", "--within is missing"),
        ("--from 0,0 --to x=1,x=2 --within 1", "twice"),
        ("--from 0,0 --to x=1 --within -1", "--within -1"),
        ("--from 0,0 --to x=100 --within 0.1", "the nearest recorded state is"),
        ("--from 0,0 --to z=1 --within 1", "no dimension 'z'"),
        ("--from 0,0 --to x=one --within 1", "'x=one'"),
        ("--from 0,0 --to 1,1 --within 1", "--within does not apply"),
        ("--from 0,0 --to 1,1 --stride 2", "--stride does not apply"),
        ("--from 0,0 --to 1,1 --quantile 0.5", "--quantile does not apply"),
        ("--from 0,0 --to 1,1 --other-episodes", "--other-episodes does not apply"),
        ("--from 0,0 --to end --quantile 2", "--quantile 2"),
        ("--from @0 --to end --stride 0", "--stride"),
        ("--from 0,0 --to wide.csv", "states of 3 numbers"),
        ("--from 0,0 --to empty.csv", "empty.csv"),
        ("--from 0,0 --to none.npy", "none.npy"),
        ("--from 0,0 --to not.npy", "not a NumPy array"),
        ("--from 0,0 --to 1,1 -o steps.txt", ".parquet"),
        ("--from 0,0 --to 1,1 -o no/such/folder/steps.csv", "no/such/folder"),
        ("--from 0,0 --to 1,1 -o steps.csv --json", "cannot be used with"),
        ("--pairs lone.csv", "no column 'to'"),
        ("--pairs ranges.csv", "ranges of states"),
        ("--pairs bad.csv", "'endd'"),
        ("--pairs empty.csv", "empty.csv"),
        ("--pairs none.csv", "none.csv"),
        ("--from 0,0 --to @0:1 --data nan.csv --distance learned", "@0:1: x is NaN"),
        ("--from 0,0 --to @0:0 --data nan.csv", "row 1 of column 'x': NaN is not finite"),
        ("--from 0,0", "--to"),
    ] {
        let refused = isochrone_in(folder.path(), &format!("distance runs/a {arguments}"));
        assert_eq!(refused.code, Some(2), "{arguments}: {}", refused.stdout);
        let error = refused.stderr.lines().find(|line| line.starts_with("error:")).unwrap_or_default();
        assert!(error.contains(expected) && error.contains("hint:"), "{arguments}: {}", refused.stderr);
    }
    assert!(!folder.path().join("steps.csv").exists());
}
