//! Tests of `isochrone eval` and of mazes.

use crate::run::isochrone_in;
use serde_json::Value;

#[test]
fn help() {
    let help = isochrone_in(std::path::Path::new("."), "eval --help");
    insta::assert_snapshot!("help_eval", help.stdout);
}

#[test]
fn a_policy_is_evaluated_on_one_way_streets() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    for arguments in [
        "envs generate nav2d --episodes 100 --seed 1 -o streets.npz",
        "train --data streets.npz --size small --steps 40 discount=0.9 checkpoints.every=10 checkpoints.keep_last=4 --run runs/a",
    ] {
        let done = run(arguments);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    let evaluated = run("eval runs/a --env nav2d --episodes 20 --checkpoints 3 --plot paths.svg --json");
    assert_eq!(evaluated.code, Some(0), "{}", evaluated.stderr);
    let report: Value = serde_json::from_str(&evaluated.stdout).unwrap();
    assert_eq!(report["rows"].as_array().unwrap().len(), 3);
    let success: Vec<f64> =
        report["rows"].as_array().unwrap().iter().map(|row| row["success"].as_f64().unwrap()).collect();
    assert!((report["last_three"].as_f64().unwrap() - success.iter().sum::<f64>() / 3.0).abs() < 1e-12);
    assert_eq!(report["last"].as_f64().unwrap(), success[2]);
    assert!(std::fs::read_to_string(folder.path().join("paths.svg")).unwrap().contains("of 20 succeed"));
    let again = run("eval runs/a --env nav2d --episodes 20 --checkpoints 3 --json");
    assert_eq!(again.stdout, evaluated.stdout, "the evaluation is deterministic");
    let planned = run(
        "eval runs/a --env nav2d --episodes 5 --plan --calibrated --round-trip --max-edge-steps 8 --states 100",
    );
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    for (arguments, part) in [
        ("eval runs/a --env nav2d --episodes 0", "--episodes 0"),
        ("eval runs/a --env nav4d", "did you mean nav2d?"),
        ("eval runs/a --env kitchen", "envs list"),
        ("eval runs/a --env nav2d --states 10", "--plan"),
        ("eval runs/a --env antmaze-medium", "choose another --env"),
        ("eval runs/a --env nav2d --film ant.png", "has no ant"),
        ("eval runs/a --env nav2d --plot paths.txt", ".svg or .png"),
        ("eval runs/none --env nav2d", "runs/none"),
        ("eval runs/a --env nav2d --plan --max-edge-steps 0", "--max-edge-steps 0"),
    ] {
        run(arguments).assert_refused(arguments, part);
    }
}

#[test]
#[cfg(not(feature = "mujoco"))]
fn a_build_without_mujoco_prints_how_to_install_it() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in
        ["envs generate antmaze-large-stitch --episodes 1 -o a.npz", "reproduce mazes --quick -o study"]
    {
        let refused = isochrone_in(folder.path(), arguments);
        assert_eq!(refused.code, Some(2), "{}", refused.stdout);
        assert!(refused.stderr.contains("just mujoco"), "{}", refused.stderr);
    }
    assert!(!folder.path().join("a.npz").exists());
}

/// A planner is evaluated without a run, in a maze with teleporters that the data show.
#[test]
#[cfg(feature = "mujoco")]
fn a_straight_controller_follows_the_stochastic_planner() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    let json = |arguments: &str| -> Value {
        let done = run(arguments);
        assert_eq!(done.code, Some(0), "{arguments}: {}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    };
    json("envs generate pointmaze-teleport-navigate --episodes 60 --seed 3 -o maze.npz --json");
    let jumps = json("data inspect maze.npz --json")["jumps"].clone();
    assert_eq!(
        (jumps["columns"][0].as_str(), jumps["exits"].as_array().unwrap().len()),
        (Some("observations[0]"), 3)
    );
    assert!(jumps["number"].as_u64().unwrap() > 20, "{jumps}");
    let text = run("data inspect maze.npz").stdout;
    assert!(text.contains("that recur, from") && text.contains("--planner stochastic"), "{text}");
    let with = |flags: &str| {
        json(&format!(
            "eval --controller straight --data maze.npz --env pointmaze-teleport --episodes 2 --plan --json {flags}"
        ))
    };
    let safe = with("--planner stochastic");
    assert_eq!(safe["rows"].as_array().unwrap().len(), 5);
    let (plan, gamble) = (&safe["forecast"][0]["plan"], &safe["forecast"][0]["gamble"]);
    assert!(plan["success"].as_f64().unwrap() > 0.9, "{safe}");
    assert!(
        gamble["success"].as_f64().unwrap() < 0.7 && gamble["steps"].as_f64() < plan["steps"].as_f64(),
        "{safe}"
    );
    assert_eq!(safe["rows"][0]["success"].as_f64(), Some(1.0), "{safe}");
    assert_eq!(
        with("--recorded-only --price-of-failing 5000")["planner"],
        "stochastic: failing costs 5000 steps, recorded moves only"
    );
    for (flags, part) in [
        ("--planner stochastic --price-of-failing 0", "--price-of-failing 0"),
        ("--within-steps 0", "--within-steps 0"),
        ("--planner recorded --recorded-only", "--planner stochastic"),
        ("--planner stochastic --states 100", "--states"),
        ("--planner graph", "needs a run"),
        ("--planner recorded --look-ahead -5", "--look-ahead -5; hint: give a positive number"),
        ("--planner recorded --look-ahead nan", "--look-ahead NaN"),
    ] {
        let arguments =
            format!("eval --controller straight --data maze.npz --env pointmaze-teleport --plan {flags}");
        run(&arguments).assert_refused(&arguments, part);
    }
    let arguments = "eval --controller straight --data maze.npz --env antmaze-teleport";
    run(arguments).assert_refused(arguments, "choose another --env");
}

#[test]
#[cfg(feature = "mujoco")]
fn point_and_ant_mazes_work_end_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let done = isochrone_in(folder.path(), arguments);
        assert_eq!(done.code, Some(0), "{arguments}: {}", done.stderr);
        done
    };
    let made = run("envs generate pointmaze-medium-navigate --episodes 4 --seed 1 -o ball.npz --json");
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!(
        (made["transitions"].as_u64(), made["dataset"].as_str()),
        (Some(4000), Some("pointmaze-medium-navigate"))
    );
    assert!(made["mujoco"].as_str().unwrap().starts_with("3."));
    run("train --data ball.npz --size small --steps 30 --run runs/ball");
    let evaluated = run("eval runs/ball --env pointmaze-medium --episodes 1 --plot ball.svg");
    assert!(
        evaluated.stdout.contains("optimal") && evaluated.stdout.contains("task 5"),
        "{}",
        evaluated.stdout
    );
    assert!(std::fs::read_to_string(folder.path().join("ball.svg")).unwrap().contains("task 5"));
    run("envs generate antmaze-medium-stitch --episodes 3 --seed 1 -o ant.npz");
    run("train --data ant.npz --size small --steps 10 --run runs/ant");
    let evaluated = run("eval runs/ant --env antmaze-medium --episodes 1 --film ant.svg --json");
    let report: Value = serde_json::from_str(&evaluated.stdout).unwrap();
    assert_eq!(report["optimal_success"], Value::Null, "the optimal success rate of the ant is unknown");
    assert!(std::fs::read_to_string(folder.path().join("ant.svg")).unwrap().contains("frame-11"));
    let other = isochrone_in(folder.path(), "eval runs/ant --env pointmaze-medium");
    assert!(other.code == Some(2) && other.stderr.contains("actions of 8"), "{}", other.stderr);
    let refused = isochrone_in(folder.path(), "envs generate antmaze-large -o x.npz");
    assert!(refused.code == Some(2) && refused.stderr.contains("antmaze-large-stitch"), "{}", refused.stderr);
}

/// A small study of mazes runs once, is complete the second time, and rejects datasets with other
/// contents.
#[test]
#[cfg(feature = "mujoco")]
fn a_study_of_mazes_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    let first = run("reproduce mazes --quick --methods gcbc -o study --json");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let report: Value = serde_json::from_str(&first.stdout).unwrap();
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        let evaluations = run["evaluations"].as_array().unwrap();
        assert_eq!(evaluations.len(), 3, "three checkpoints");
        assert!(evaluations.iter().all(|one| one["planner"].is_null()), "cloning has no distance");
    }
    let report = std::fs::read_to_string(folder.path().join("study/report.md")).unwrap();
    for part in ["pointmaze-teleport-navigate", "| optimal success rate | 100.0 |", "Published", "gcbc"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let again = run("reproduce mazes --quick --methods gcbc -o study --json");
    assert_eq!(again.stdout, first.stdout, "nothing is trained or evaluated twice");
    let data = folder.path().join("study/datasets/pointmaze-medium-navigate.arrow");
    std::fs::copy(folder.path().join("study/datasets/pointmaze-teleport-navigate.arrow"), &data).unwrap();
    let refused = run("reproduce mazes --quick --methods gcbc -o study");
    assert!(
        refused.code == Some(2) && refused.stderr.contains("does not contain the 50 episodes"),
        "{}",
        refused.stderr
    );
}

/// A small study of the ant plots and lists its learning curve.
#[test]
#[cfg(feature = "mujoco")]
fn a_study_of_the_ant_plots_its_curve() {
    let folder = tempfile::tempdir().unwrap();
    let study = isochrone_in(folder.path(), "reproduce antmaze --quick -o study --json");
    assert_eq!(study.code, Some(0), "{}", study.stderr);
    let report: Value = serde_json::from_str(&study.stdout).unwrap();
    let run = &report["runs"][0];
    assert_eq!(run["checkpoints"], serde_json::json!([21, 24, 27, 30]));
    let evaluations = run["evaluations"].as_array().unwrap();
    let planned = evaluations.iter().filter(|one| one["planner"] == "graph");
    assert_eq!((evaluations.len(), planned.count()), (5, 1), "with a planner only the last");
    let report = std::fs::read_to_string(folder.path().join("study/report.md")).unwrap();
    assert!(report.contains("| cmd1 | 0 | 21 |") && !report.contains("optimal success"), "{report}");
    assert!(folder.path().join("study/figures/curves.svg").exists());
}

/// Methods that a study lacks are rejected before data are collected, and are not in the help.
#[test]
fn a_method_that_a_study_lacks_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let refused = isochrone_in(folder.path(), "reproduce antmaze --methods qrl -o study");
    assert!(
        refused.code == Some(2) && refused.stderr.contains("'qrl'") && refused.stderr.contains("--methods"),
        "{}",
        refused.stderr
    );
    assert!(!folder.path().join("study").exists(), "nothing was started");
    let help = isochrone_in(folder.path(), "reproduce antmaze --help").stdout;
    assert!(help.contains("cmd1") && !help.contains("qrl"), "{help}");
}

/// A user-defined recipe runs in shards.
#[test]
fn a_recipe_file_is_run_in_shards_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    let recipe = "title = 'Mine'\nsummary = 'mine'\nseeds = 2\ndata_seed = 1\ndata_share = 0.02\nsteps = 10\n\
        evaluation = { episodes = 2, task_seed = 1 }\ndatasets = { nav2d = {} }\nmethods = { gcbc = {} }\n\
        [report]\nfigures = ['success']\n";
    std::fs::write(folder.path().join("mine.toml"), recipe).unwrap();
    for shard in [1, 2] {
        let done = run(&format!("reproduce mine.toml --shard {shard}/2 -o part-{shard}"));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert!(done.stdout.contains("1 of 1 runs"), "{}", done.stdout);
    }
    let merged = run("reproduce merge part-1 part-2 -o all --json");
    assert_eq!(merged.code, Some(0), "{}", merged.stderr);
    let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
    assert_eq!(merged["runs"].as_array().unwrap().len(), 2);
    // Flags of all commands may follow the file, and it has help as the built-in studies have.
    let more = run("reproduce mine.toml --threads 1 --seeds 3 --shard 3/3 -o part-3");
    assert_eq!(more.code, Some(0), "{}", more.stderr);
    let merged = run("reproduce merge all part-3 -o three");
    assert!(merged.stdout.contains("3 of 3 runs"), "{} {}", merged.stdout, merged.stderr);
    std::fs::write(folder.path().join("other.toml"), recipe.replace("steps = 10", "steps = 11")).unwrap();
    let other = run("reproduce other.toml --shard 1/2 -o other");
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    let help = run("reproduce mine.toml --help");
    assert!(
        help.stdout.contains("--shard <I/N>") && help.stdout.contains("--threads <N>"),
        "{}",
        help.stdout
    );
    for (arguments, expected) in [
        ("reproduce merge part-1 other -o x", "the recipe differs"),
        ("reproduce mine.toml --shard 3/2", "\"3/2\" is not a shard"),
        ("reproduce mine.toml --methods cmd1", "cmd1 is not a method of this study"),
        ("reproduce mine.toml --datasets mazes -o x", "--datasets: mazes is not a dataset of this study"),
        ("reproduce mine.toml --seed 3", "unexpected argument '--seed' found"),
        ("reproduce nowhere.toml", "nowhere.toml: no such study"),
        ("reproduce recipe", "recipe: no such study"),
        ("reproduce merge nowhere -o x", "nowhere: the folder has no results.json"),
        ("reproduce merge part-1 part-2 part-1 -o x", "part-1: the folder is given twice"),
        ("reproduce distances --methods hiql", "refined, distilled, distilled-mrn, cmd1"),
        ("reproduce distances --environments moon", "ring-noise-0.02"),
    ] {
        run(arguments).assert_refused(arguments, expected);
    }
}

#[test]
fn a_planner_is_distilled_into_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    let generated = run("envs generate nav2d --episodes 100 --seed 1 -o streets.npz");
    assert_eq!(generated.code, Some(0), "{}", generated.stderr);
    let trained = run("train --data streets.npz --size small --steps 60 discount=0.9 --run runs/a");
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let evaluate = "eval runs/a --env nav2d --episodes 60 --policy distilled --json";
    run(evaluate).assert_refused(evaluate, "isochrone distill runs/a --policy");
    let distilled = run("distill runs/a --policy --updates 400 --json");
    assert_eq!(distilled.code, Some(0), "{}", distilled.stderr);
    let report: Value = serde_json::from_str(&distilled.stdout).unwrap();
    let error = report["rows"][0]["relative_error"].as_f64().unwrap();
    assert!(error < 0.6, "actions are those of the planner, not constant: {error}");
    let planner_with = |flags: &str| {
        let done = run(&format!("distill runs/a --policy --updates 1 --random-goals 20 --json {flags}"));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        report["rows"][0]["teacher"].as_str().unwrap().to_owned()
    };
    // The seed is that of the student: it does not select another planner.
    assert_eq!(planner_with("--seed 3"), planner_with(""));
    assert!(planner_with("--seed 3 --recorded-only").starts_with("stochastic: failing costs 10000 steps"));
    assert!(planner_with("--seed 3 --states 50").starts_with("graph"));
    let distilled = run("distill runs/a --policy --updates 400");
    assert_eq!(distilled.code, Some(0), "{}", distilled.stderr);
    let success = |arguments: &str| {
        let done = run(arguments);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        report["last"].as_f64().unwrap()
    };
    let (student, idle) = (success(evaluate), 0.3);
    assert!(student > idle, "a policy that reaches goals without a planner: {student}");
    let evaluate = "eval runs/a --env nav2d --episodes 60 --policy waypoints --json";
    run(evaluate).assert_refused(evaluate, "isochrone distill runs/a --waypoints");
    let distilled = run("distill runs/a --waypoints --updates 400 --random-goals 500 --starts-per-goal 32");
    assert_eq!(distilled.code, Some(0), "{}", distilled.stderr);
    let student = success(evaluate);
    assert!(student > idle, "waypoints lead the policy to goals: {student}");
    let extract = "distill runs/a --waypoints --advantage-steps 10 --alpha 0.3 --updates 400 \
                   --random-goals 500 --starts-per-goal 32 --json";
    let extracted = run(extract);
    assert_eq!(extracted.code, Some(0), "{}", extracted.stderr);
    assert!(
        extracted.stdout.contains("advantages over 10 steps of the data, alpha 0.3"),
        "{}",
        extracted.stdout
    );
    let student = success(evaluate);
    assert!(student > idle, "waypoints of the data lead the policy to goals: {student}");
    let path = |name: &str| folder.path().join("runs/a").join(name);
    std::fs::copy(path("distilled-policy.safetensors"), path("distilled-waypoints.safetensors")).unwrap();
    run(evaluate).assert_refused(evaluate, "distilled for another use or another goal space");
    for (arguments, part) in [
        ("distill runs/a --radius 2", "give --policy or --waypoints as well"),
        ("distill runs/a --random-goals 5", "give --policy or --waypoints as well"),
        ("distill runs/a --policy --random-goals 1", "--random-goals 1; hint: give 2 or more"),
        ("distill runs/a --waypoints --starts-per-goal 0", "--starts-per-goal 0; hint: give 1 or more"),
        ("distill runs/a --waypoints --starts-per-goal 99999999999", "more than 20000000 plans"),
        ("distill runs/a --policy --waypoints", "--waypoints"),
        ("distill runs/a --policy --updates 0", "--updates 0"),
        ("distill runs/a --advantage-steps 5", "--waypoints"),
        ("distill runs/a --waypoints --advantage-steps 0", "steps = 0"),
        ("distill runs/a --waypoints --advantage-steps 5 --alpha -1", "alpha = -1"),
        ("distill runs/a --waypoints --advantage-steps 5 --radius 2", "--radius configures the planner"),
        ("distill runs/a --policy --head mrn", "--head"),
        ("eval runs/a --env nav2d --policy distilled --checkpoints 2", "--checkpoints 2"),
    ] {
        run(arguments).assert_refused(arguments, part);
    }
}

#[test]
fn a_policy_may_see_a_part_of_the_goal() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        "envs generate nav2d --episodes 20 --seed 1 -o streets.npz",
        "train --data streets.npz --goal 0..1 --size small --steps 5 --run runs/a",
        "eval runs/a --env nav2d --episodes 2",
    ] {
        let done = isochrone_in(folder.path(), arguments);
        assert_eq!(done.code, Some(0), "{arguments}: {}", done.stderr);
    }
}
