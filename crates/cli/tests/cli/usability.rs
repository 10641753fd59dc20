//! Regression tests of usability problems.

use crate::run::{commands, isochrone_in, workspace};
use serde_json::Value;
use std::{fmt::Write as _, fs, path::Path};

fn succeeds(folder: &Path, arguments: &str) -> (String, String) {
    let outcome = isochrone_in(folder, arguments);
    assert_eq!(outcome.code, Some(0), "{arguments}: {}", outcome.stderr);
    (outcome.stdout, outcome.stderr)
}

#[test]
fn every_command_has_the_flag_threads() {
    let commands = commands();
    for name in ["train", "data inspect"] {
        assert!(commands.iter().any(|(command, _)| command == name), "isochrone {name} is not listed");
    }
    for (command, help) in commands {
        assert!(help.contains("--threads <N>"), "isochrone {command}");
    }
}

#[test]
fn only_similar_names_are_suggested() {
    let stderr = |arguments: &str| isochrone_in(Path::new("."), arguments).stderr;
    let hiql = stderr("train --data x --algorithm hiql");
    assert!(hiql.contains("gciql") && !hiql.contains("similar") && hiql.contains("hint:"), "{hiql}");
    let gcql = stderr("train --data x --algorithm gcql");
    assert!(gcql.contains("similar value exists: 'gciql'"), "{gcql}");
}

/// Of sixteen columns, the text table shows some, and JSON has all of them in order.
#[test]
fn plans_of_wide_states_fit_the_terminal_and_end_with_a_total() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut csv = "episode".to_owned();
    (0..16).for_each(|column| write!(csv, ",o{column}").unwrap());
    for row in 0..200 {
        write!(csv, "\n{}", row / 20).unwrap();
        (0..16).for_each(|column| write!(csv, ",{}", (row % 20) as f64 * 0.1 + column as f64).unwrap());
    }
    fs::write(folder.join("wide.csv"), csv).unwrap();
    let columns: Vec<String> = (0..16).map(|column| format!("o{column}")).collect();
    let columns = columns.join(",");
    succeeds(
        folder,
        &format!("train --data wide.csv --observations {columns} --size small --steps 5 --run runs/a"),
    );
    let plan = "plan runs/a --from @0:0 --to @1:last --max-edge-steps 1000000";
    let (table, _) = succeeds(folder, plan);
    let widest = table.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100 && table.lines().last().unwrap().starts_with("total "), "{table}");
    assert!(table.contains("10 dimensions not shown, see --json"), "{table}");
    let (json, _) = succeeds(folder, &format!("{plan} --json"));
    let report: Value = serde_json::from_str(&json).unwrap();
    assert!(report["steps_over_waypoints"].is_number());
    let places: Vec<usize> =
        (0..16).map(|column| json.find(&format!("\"o{column}\"")).expect("JSON has all columns")).collect();
    assert!(places.is_sorted(), "columns in the order of the data: {json}");
}

#[test]
fn training_data_of_another_environment_give_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeeds(folder, "envs generate nav2d --episodes 50 -o pointmaze-medium-navigate-v0.npz");
    succeeds(folder, "train --data pointmaze-medium-navigate-v0.npz --size small --steps 5 --run runs/a");
    let (_, warned) = succeeds(folder, "eval runs/a --env nav2d --episodes 2");
    assert!(warned.contains("a dataset of pointmaze-medium") && warned.contains("hint:"), "{warned}");
}

/// Errors of the parser are in words, and lead to the help of the right command.
#[test]
fn wrong_arguments_lead_to_the_help_of_their_command() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("walks.csv"), "episode,x\n0,1\n0,2\n").unwrap();
    for (arguments, expected) in [
        ("man", "hint: see isochrone man --help"),
        ("audit --data nowhere.csv", "hint: see isochrone audit --help"),
        ("plot map runs/a -o a.svg --cells 0", "0 is not between 10 and 500"),
        ("reproduce episode-leak --updates 2", "2 is less than 20"),
        ("--threads x envs list", "not a whole number"),
        ("train walks.csv", "walks.csv: not a configuration file (.toml); hint: to train on it, use --data"),
        ("train --list-settings discount=0.9", "cannot be used with"),
        ("plot map runs/a --to 1,1 -o a.svg --look-ahead 3", "does not apply without"),
        ("plot map runs/a --to 1,1 -o a.svg --planner greedy", "--planner does not apply without --path"),
    ] {
        isochrone_in(folder.path(), arguments).assert_refused(arguments, expected);
    }
}

/// Two runs of one seed are not two seeds.
#[test]
fn a_seed_is_drawn_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    fs::copy(workspace().join("examples/walks.csv"), folder.path().join("walks.csv")).unwrap();
    for name in ["a", "b"] {
        let done = run(&format!(
            "train --data walks.csv --observations x,y --size small --steps 2 --run runs/{name}"
        ));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    let drawn = run("plot curves runs -o curves.svg --metric critic/loss");
    assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
    assert!(drawn.stderr.contains("skipped: another run has the same settings"), "{}", drawn.stderr);
}

#[test]
fn commands_of_data_are_found_without_it() {
    let refused = isochrone_in(Path::new("."), "convert a.csv");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("hint: use isochrone data convert"), "{}", refused.stderr);
}

#[test]
fn far_too_many_threads_are_refused() {
    let refused = isochrone_in(Path::new("."), "--threads 100000 envs list");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--threads 100000; hint: give 1 to 1024"), "{}", refused.stderr);
}
