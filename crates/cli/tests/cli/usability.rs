//! Regression tests of usability problems.

use crate::run::isochrone_in;
use serde_json::Value;
use std::{fmt::Write as _, fs, path::Path};

fn succeeds(folder: &Path, arguments: &str) -> (String, String) {
    let outcome = isochrone_in(folder, arguments);
    assert_eq!(outcome.code, Some(0), "{arguments}: {}", outcome.stderr);
    (outcome.stdout, outcome.stderr)
}

#[test]
fn every_command_has_the_flag_threads() {
    let folder = Path::new(".");
    let (help, _) = succeeds(folder, "--help");
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        // Continuation lines are indented further.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"train") && commands.contains(&"data"), "{help}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        assert!(succeeds(folder, &format!("{command} --help")).0.contains("--threads <N>"), "{command}");
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
