//! Tests of `isochrone envs`, `plan`, `plot`, `audit`, `distill` and `reproduce`.

use crate::run::{isochrone, isochrone_in};
use isochrone::{learn::run::checkpoint::sha256, nn::store::Archive};
use std::path::Path;

#[test]
fn help() {
    for command in ["audit", "distill", "envs", "plan", "plot", "plot map", "reproduce", "reproduce nav2d"] {
        let name = command.replace(' ', "_");
        insta::assert_snapshot!(format!("help_{name}"), isochrone(&format!("{command} --help")).transcript());
    }
}

#[test]
fn environments_are_listed() {
    insta::assert_snapshot!("envs_list", isochrone("envs list").transcript());
}

/// Generates a dataset and trains a short run on it.
fn trained(folder: &Path) {
    let made = isochrone_in(folder, "envs generate nav2d --episodes 200 --seed 1 -o streets.npz --json");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let facts: serde_json::Value = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!((facts["episodes"].as_u64(), facts["seed"].as_u64()), (Some(200), Some(1)));
    assert!(facts["transitions"].as_u64().unwrap() > 1000);
    let run = isochrone_in(
        folder,
        "train --data streets.npz --size small --threads 1 --steps 60 batch_size=64 --run runs/a",
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

/// The same seed gives the same file.
#[test]
fn datasets_are_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.arrow", "b.arrow"] {
        let made =
            isochrone_in(folder.path(), &format!("envs generate nav2d --episodes 30 --seed 7 -o {name}"));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.arrow") == read("b.arrow"));
    let refused = isochrone_in(folder.path(), "envs generate nav2d --episodes 5 -o a.arrow");
    assert!(refused.code == Some(2) && refused.stderr.contains("already exists"), "{}", refused.stderr);
    let refused = isochrone_in(folder.path(), "envs generate nav2d --episodes 0 -o c.npz");
    assert!(refused.code == Some(2) && refused.stderr.contains("hint:"), "{}", refused.stderr);
    let refused = isochrone_in(folder.path(), "envs generate nav3d -o c.npz");
    assert!(refused.code == Some(2) && refused.stderr.contains("envs list"), "{}", refused.stderr);
    let refused = isochrone_in(folder.path(), "envs generate nav2d -o c.xyz");
    assert!(refused.code == Some(2) && refused.stderr.contains("hint:"), "{}", refused.stderr);
}

#[test]
fn paths_maps_and_reports() {
    let folder = tempfile::tempdir().unwrap();
    trained(folder.path());
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();

    let planned = run("plan runs/a --from @0:0 --to @0:last --max-edge-steps 1000 --json --plot path.svg");
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    let plan: serde_json::Value = serde_json::from_str(&planned.stdout).unwrap();
    let waypoints = plan["rows"].as_array().unwrap();
    // All edges are shorter than this maximum, so there is no waypoint between the two states.
    assert_eq!(waypoints.len(), 2);
    assert_eq!(waypoints[1]["steps_left"].as_f64(), Some(0.0));
    assert!(
        (waypoints[1]["steps"].as_f64().unwrap() - plan["steps_straight"].as_f64().unwrap()).abs() < 1e-6
    );
    assert!(read("path.svg").contains("steps to the star"));
    let far = run("plan runs/a --from @0:0 --to 15,-15 --max-edge-steps 1000");
    assert!(far.code == Some(0) && far.stderr.contains("no data nearby"), "{}", far.stderr);
    // Without planner flags: recorded segments, each waypoint with its row of the data.
    let recorded = run("plan runs/a --from @0:0 --to @0:last --json --plot recorded.svg");
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    let plan: serde_json::Value = serde_json::from_str(&recorded.stdout).unwrap();
    let waypoints = plan["rows"].as_array().unwrap();
    let steps: f64 = waypoints.iter().map(|waypoint| waypoint["steps"].as_f64().unwrap()).sum();
    assert!((steps - plan["steps"].as_f64().unwrap()).abs() < 1e-6, "{plan:#}");
    let named = |waypoint: &serde_json::Value| waypoint["row"].as_str().unwrap().starts_with('@');
    assert!(waypoints.iter().all(named), "{plan:#}");
    // Without jumps in the data, the plan and the gamble are the same path.
    let stochastic = run("plan runs/a --from @0:0 --to @0:last --planner stochastic --json");
    assert_eq!(stochastic.code, Some(0), "{}", stochastic.stderr);
    let stochastic: serde_json::Value = serde_json::from_str(&stochastic.stdout).unwrap();
    assert_eq!(stochastic["forecast"]["plan"]["success"].as_f64(), Some(1.0), "{stochastic:#}");
    assert_eq!(stochastic["forecast"]["plan"], stochastic["forecast"]["gamble"]);
    assert!(stochastic["rows"].as_array().unwrap().iter().all(named), "{stochastic:#}");
    let text = run("plan runs/a --from @0:0 --to @0:last --within-steps 500");
    assert!(text.code == Some(0) && text.stdout.contains("forecast: 100.0 % in"), "{}", text.stdout);
    // The nearest state of a goal set is not farther than the end of the same episode.
    let nearest = run("plan runs/a --from @0:0 --to end --json");
    assert!(nearest.code == Some(0) && nearest.stderr.contains("the nearest state in recorded time is @"));
    let to_set: serde_json::Value = serde_json::from_str(&nearest.stdout).unwrap();
    assert!(to_set["steps"].as_f64().unwrap() <= plan["steps"].as_f64().unwrap(), "{to_set:#}");
    let last = to_set["rows"].as_array().unwrap().last().unwrap();
    assert!(named(last) && last["steps_left"].as_f64() == Some(0.0), "{to_set:#}");
    let place = run("plan runs/a --from @0:0 --to 0=0,1=0 --within 1.5");
    assert!(place.code == Some(0) || place.stderr.contains("the data have a gap"), "{}", place.stderr);
    for (arguments, expected) in [
        ("--to end --planner graph", "a goal set"),
        ("--to @0", "states; hint: give one, like @0:10, or a goal set"),
        ("--to @0:last --within 1", "--within does not apply"),
        ("--to 0=0", "--within is missing"),
        ("--to @0:last --look-ahead 4", "--look-ahead does not apply without a policy"),
        ("--to @0:last --planner recorded --radius 2", "--radius does not apply to recorded segments"),
        ("--to @0:last --planner graph --radius 2", "--radius does not apply to the planner graph"),
        ("--to @0:last --planner greedy --max-edge-steps 2", "--max-edge-steps does not apply"),
        ("--to @0:last --planner stochastic --radius 2", "--radius does not apply to the planner stochastic"),
        ("--to @0:last --planner graph --recorded-only", "--recorded-only applies to the planner stochastic"),
    ] {
        let refused = run(&format!("plan runs/a --from @0:0 {arguments}"));
        assert!(
            refused.code == Some(2) && refused.stderr.contains(expected),
            "{arguments}: {}",
            refused.stderr
        );
    }
    assert!(read("recorded.svg").contains("along recorded segments"));
    let greedy = run("plan runs/a --from @0:0 --to @0:last --planner greedy --radius 100");
    assert!(greedy.code == Some(0) && greedy.stdout.contains("steps_left"), "{}", greedy.stderr);

    for (arguments, file, expected) in [
        ("plot map runs/a --to 0,0", "to.svg", "steps to the star"),
        ("plot map runs/a --from 0,0", "from.svg", "steps from the circle"),
        ("plot map runs/a --from @0:0 --to 0,0 --axes 1,0 --cells 20", "both.svg", "steps from the circle"),
        (
            "plot map runs/a --from @0:0 --to @0:last --path --max-edge-steps 1000",
            "graph-path.svg",
            "graph: up to 1000 recorded states",
        ),
        ("plot map runs/a --from @0:0 --to @0:last --path", "recorded-path.svg", "along recorded segments"),
        ("plot map runs/a --to 0,0 --distance learned", "learned.svg", "learned distance"),
        ("plot map runs/a --to 0,0 --axes principal", "principal.svg", "principal axis 1"),
        ("plot curves --metric critic/loss", "curves.svg", "training steps"),
        ("plot calibration runs/a", "calibration.svg", "observed steps"),
    ] {
        let drawn = run(&format!("{arguments} -o {file}"));
        assert_eq!(drawn.code, Some(0), "{arguments}: {}", drawn.stderr);
        assert!(read(file).contains(expected), "{arguments}");
    }
    let report = run("plot report -o report.html");
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    let html = read("report.html");
    assert!(
        html.contains("Calibration") && html.contains("batch_size = 64") && html.matches("<svg").count() >= 4
    );
    assert!(!html.contains("<script") && !html.contains("src="));
    for part in ["class=\"headline\">Best ", "Report of ", "the most central of the sampled states"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn audits_report_unreliable_distances() {
    let folder = tempfile::tempdir().unwrap();
    trained(folder.path());
    let audited = isochrone_in(folder.path(), "audit runs/a --json");
    assert_eq!(audited.code, Some(0), "{}", audited.stderr);
    let audit: serde_json::Value = serde_json::from_str(&audited.stdout).unwrap();
    let names: Vec<&str> =
        audit["rows"].as_array().unwrap().iter().map(|row| row["distance"].as_str().unwrap()).collect();
    assert_eq!(names, ["refined", "typical", "learned", "calibrated"]);
    let refined = &audit["rows"][0];
    // Recorded time is the reference, so it has no rank correlation with itself.
    assert!(refined["rank_across_episodes"].is_null(), "{audit:#}");
    assert!(audit["rows"][1]["rank_across_episodes"].as_f64().unwrap() > 0.5, "{audit:#}");
    assert!(refined["above_recorded_lag"].as_f64().unwrap() < 0.1, "{audit:#}");
    // A distance that was trained so briefly is unreliable.
    let distrusted = audit["untrusted"].as_array().unwrap();
    assert!(distrusted.iter().any(|line| line.as_str().unwrap().starts_with("learned: ")), "{audit:#}");
    let table = isochrone_in(folder.path(), "audit runs/a");
    assert!(table.stdout.contains("do not trust learned"), "{}", table.stdout);
    // The distances of the run are compared with other data; the graph is built from the training
    // data.
    let made = isochrone_in(folder.path(), "envs generate nav2d --episodes 20 --seed 2 -o others.npz");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let others = isochrone_in(folder.path(), "audit runs/a --data others.npz --json");
    assert_eq!(others.code, Some(0), "{}", others.stderr);
    let others: serde_json::Value = serde_json::from_str(&others.stdout).unwrap();
    assert_ne!(others["rows"][0], audit["rows"][0]);
}

/// Writes a one-way ring of 40 cells as a table, and returns the exact steps between its rows.
fn ring(folder: &Path) -> Vec<Vec<f64>> {
    let mut table = "episode,x,y\n".to_owned();
    let mut cells = Vec::new();
    for episode in 0..12 {
        for step in 0..30 {
            let cell = (7 * episode + step) % 40;
            let (sin, cos) = (std::f64::consts::TAU * f64::from(cell) / 40.0).sin_cos();
            table += &format!("{episode},{cos:.6},{sin:.6}\n");
            cells.push(cell);
        }
    }
    std::fs::write(folder.join("ring.csv"), table).unwrap();
    let row = |from: &i32| cells.iter().map(|to| f64::from((to - from).rem_euclid(40))).collect();
    cells.iter().map(row).collect()
}

#[test]
fn matrices_of_other_programs_are_audited() {
    use isochrone::data::tables::write_npy;
    let folder = tempfile::tempdir().unwrap();
    let exact = ring(folder.path());
    let write = |name: &str, rows: &[usize], change: &dyn Fn(f64, f64) -> f64| {
        let pairs = rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i, j)));
        let values: Vec<f64> = pairs.map(|(i, j)| change(exact[i][j], exact[j][i])).collect();
        write_npy(&folder.path().join(name), &[rows.len(), rows.len()], &values).unwrap();
    };
    let all: Vec<usize> = (0..exact.len()).collect();
    let third: Vec<usize> = all.iter().copied().step_by(3).collect();
    let backwards: Vec<usize> = all.iter().copied().rev().step_by(2).collect();
    write("exact.npy", &all, &|forward, _| forward);
    write("third.npy", &third, &|forward, _| forward);
    write("backwards.npy", &backwards, &|forward, _| forward);
    write("symmetric.npy", &all, &|forward, backward| forward.min(backward));
    let numbers: Vec<f64> = backwards.iter().map(|&row| row as f64).collect();
    write_npy(&folder.path().join("rows.npy"), &[numbers.len()], &numbers).unwrap();
    std::fs::write(folder.path().join("two.csv"), "0,1\n1,0\n").unwrap();
    std::fs::write(folder.path().join("wide.csv"), "0,1,2\n1,0,2\n").unwrap();
    std::fs::write(folder.path().join("far.csv"), "0\n99999\n").unwrap();
    let run = |arguments: &str| {
        isochrone_in(folder.path(), &format!("audit --data ring.csv --observations x,y --matrix {arguments}"))
    };
    for arguments in ["exact.npy", "third.npy --stride 3", "backwards.npy --rows rows.npy"] {
        let audited = run(&format!("{arguments} --json"));
        assert_eq!(audited.code, Some(0), "{arguments}: {}", audited.stderr);
        let audit: serde_json::Value = serde_json::from_str(&audited.stdout).unwrap();
        assert_eq!(audit["untrusted"], serde_json::json!([]), "{arguments}: {audit:#}");
        let matrix = &audit["rows"][0];
        assert!(arguments.starts_with(matrix["distance"].as_str().unwrap()), "{audit:#}");
        assert!(matrix["rank_across_episodes"].as_f64().unwrap() > 0.99, "{audit:#}");
        let one_step = matrix["one_step"].as_f64();
        assert_eq!(one_step, (arguments == "exact.npy").then_some(1.0), "{arguments}");
    }
    let broken = run("symmetric.npy");
    assert!(broken.stdout.contains("do not trust symmetric.npy: across episodes"), "{}", broken.stdout);
    for (arguments, expected) in [
        ("third.npy", "--rows or --stride"),
        ("third.npy --stride 2", "there are 180 states"),
        ("wide.csv", "2 rows of 3 numbers"),
        ("two.csv --rows far.csv", "row 1 is 99999"),
        ("two.csv --rows none.npy", "none.npy"),
        ("none.npy", "none.npy"),
        ("exact.npy --ends either", "--ends does not apply"),
    ] {
        run(arguments).assert_refused(arguments, expected);
    }
    assert_eq!(isochrone_in(folder.path(), "audit --matrix exact.npy").code, Some(2));
    assert_eq!(isochrone_in(folder.path(), "audit").code, Some(2));
}

/// For two disconnected roads, a plan reports the gap in the data, and the graph is stored in the
/// run directory.
#[test]
fn plans_report_gaps_and_graphs_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "episode,x,y,action_x\n".to_owned();
    for (episode, first) in [0.0, 25.0].into_iter().enumerate() {
        (0..200).for_each(|step| table += &format!("{episode},{:.1},0.5,1\n", first + 0.1 * f64::from(step)));
    }
    std::fs::write(folder.path().join("roads.csv"), table).unwrap();
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    let train = "train --data roads.csv --observations x,y --size small --threads 1 --steps 5 batch_size=16 --run runs/a";
    assert_eq!(run(train).code, Some(0));
    let broken = run("plan runs/a --from 5,0.5 --to 40,0.5");
    let expected = "the data have a gap between @0:199 and @1:0, 51 steps apart";
    assert!(broken.code == Some(2) && broken.stderr.contains(expected), "{}", broken.stderr);
    let query = || run("distance runs/a --from 1,0.5 --to 15,0.5 --csv");
    let (file, first) = (folder.path().join("runs/a/refined.npz"), query());
    let kept = std::fs::read(&file).unwrap();
    std::fs::write(&file, &kept[..kept.len() / 2]).unwrap();
    let again = query();
    assert!(again.stderr.contains("refined.npz") && again.stderr.contains("built again"), "{}", again.stderr);
    assert!(again.stdout == first.stdout && std::fs::read(&file).unwrap() == kept);
    // Queries with other data do not change the file.
    let other = run("distance runs/a --from 1,0.5 --to 15,0.5 --data roads.csv");
    assert!(other.code == Some(0) && std::fs::read(&file).unwrap() == kept);
}

#[test]
fn recorded_time_can_be_distilled() {
    let folder = tempfile::tempdir().unwrap();
    trained(folder.path());
    let query = "distance runs/a --from @0:0 --to @0:0 --to @0:last --distance distilled --json";
    let refused = isochrone_in(folder.path(), query);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("hint: create it with isochrone distill runs/a"), "{}", refused.stderr);
    let made = isochrone_in(folder.path(), "distill runs/a --updates 20 --json");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let report: serde_json::Value = serde_json::from_str(&made.stdout).unwrap();
    let row = &report["rows"][0];
    assert_eq!((row["head"].as_str(), row["updates"].as_u64()), (Some("pair"), Some(20)), "{report:#}");
    assert!(row["pairs"].as_u64().unwrap() > 100 && row["spearman"].as_f64().unwrap() > 0.3, "{report:#}");
    assert!(made.stderr.contains("update 20/20  loss "), "{}", made.stderr);
    // Goals are a slice: other columns have no effect.
    let sliced = isochrone_in(folder.path(), "distill runs/a --updates 20 --goal 0..1 --within 0.5");
    assert_eq!(sliced.code, Some(0), "{}", sliced.stderr);
    let goals = "distance runs/a --from @0:0 --to 3,0 --to 3,9 --distance distilled --json";
    let queried: serde_json::Value =
        serde_json::from_str(&isochrone_in(folder.path(), goals).stdout).unwrap();
    assert_eq!(queried["rows"][0]["steps"], queried["rows"][1]["steps"], "{queried:#}");
    assert!(queried["trust"].as_str().unwrap().contains("goals defined by columns 0..1"), "{queried:#}");
    for (flags, expected) in [
        ("--within -1", "--within -1"),
        ("--within 1 --goal 1..9", "--goal 1..9: not a range"),
        ("--within 1 --head mrn", "compares full states"),
        ("--goal 0..1", "--within"),
        ("--within 1 --goal x", "not two numbers like 0..2"),
    ] {
        let refused = isochrone_in(folder.path(), &format!("distill runs/a {flags}"));
        assert!(refused.code == Some(2) && refused.stderr.contains(expected), "{flags}: {}", refused.stderr);
    }
    let made = isochrone_in(folder.path(), "distill runs/a --updates 20 --json");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    // The distilled distance does not need the data.
    std::fs::rename(folder.path().join("streets.npz"), folder.path().join("elsewhere.npz")).unwrap();
    let points = "distance runs/a --from -11,0 --to -11,0 --to -12,-12 --distance distilled --json";
    let queried = isochrone_in(folder.path(), points);
    assert_eq!(queried.code, Some(0), "{}", queried.stderr);
    let answer: serde_json::Value = serde_json::from_str(&queried.stdout).unwrap();
    assert_eq!(answer["rows"][0]["steps"].as_f64(), Some(0.0), "{answer:#}");
    assert!(answer["trust"].as_str().unwrap().contains("distilled into a network (pair)"), "{answer:#}");
    std::fs::rename(folder.path().join("elsewhere.npz"), folder.path().join("streets.npz")).unwrap();
    let audited = isochrone_in(folder.path(), "audit runs/a --json");
    let audit: serde_json::Value = serde_json::from_str(&audited.stdout).unwrap();
    assert_eq!(audit["rows"][4]["distance"].as_str(), Some("distilled"), "{audit:#}");
    // A file for other data, and a file that is not valid.
    let file = folder.path().join("runs/a/distilled.safetensors");
    let bytes = std::fs::read(&file).unwrap();
    let sha = report["data_sha256"].as_str().unwrap();
    let at = bytes.windows(sha.len()).position(|window| window == sha.as_bytes()).unwrap();
    let mut edited = bytes.clone();
    edited[at..at + sha.len()].fill(b'0');
    // With the checksum that fits the edit.
    let archive = Archive::from_bytes(&bytes).unwrap();
    let text = Archive::description(&edited).unwrap().unwrap();
    let (fields, _) = text.rsplit_once(",\"sha256\":").unwrap();
    let sum = sha256(&[fields.as_bytes(), &archive.to_bytes()].concat());
    let other = archive.to_described_bytes(&format!("{fields},\"sha256\":\"{sum}\"}}"));
    let cases = [(other, "other data"), (edited, "SHA-256"), (b"hello".to_vec(), "distilled.safetensors: ")];
    for (bytes, expected) in cases {
        std::fs::write(&file, bytes).unwrap();
        let refused = isochrone_in(folder.path(), points);
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(expected) && refused.stderr.contains("hint: "), "{}", refused.stderr);
    }
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    trained(folder.path());
    for (arguments, expected) in [
        ("plan runs/none --from 0,0 --to 1,1", "runs/none"),
        ("plan runs/a --from 0,0,0 --to 1,1", "--from"),
        ("plan runs/a --from @0 --to 1,1", "states; hint: give one"),
        ("plan runs/a --from @0:0 --to 0=1", "--within is missing"),
        ("plan runs/a --from @0:0 --to @9999:0", "no episode 9999; hint: episodes are 0 to 199"),
        ("plan runs/a --from 0,0 --to 1,1 --max-edge-steps 0", "--max-edge-steps 0"),
        ("plan runs/a --from 0,0 --to 1,1 --planner greedy --radius nan", "--radius"),
        ("plan runs/a --from 0,0 --to 1,1 --states 0", "--states 0"),
        ("plan runs/a --from -12,0 --to 0,-20 --max-edge-steps 0.0001", "no path found"),
        ("man -o streets.npz/man", "streets.npz/man: cannot be written"),
        ("distill runs/a --updates 0", "--updates 0"),
        ("distill runs/none", "runs/none"),
        ("plot map runs/a -o x.svg", "--to"),
        ("plot map runs/a --to 0,0 -o x.bmp", "x.bmp"),
        ("plot map runs/a --to 0,0 --axes 0,0 -o x.svg", "--axes 0,0"),
        ("plot map runs/a --to 0,0 --axes 0,7 -o x.svg", "no dimension '7'"),
        ("plot map runs/a --to 0,0 --axes 0 -o x.svg", "--axes 0"),
        ("plot curves runs/a --metric nothing -o x.svg", "critic/loss"),
        ("plot calibration runs/a --data nowhere.npz -o x.svg", "nowhere.npz"),
        ("plot report runs/a -o x.txt", ".html"),
        ("reproduce nav2d --seeds 0", "--seeds"),
    ] {
        isochrone_in(folder.path(), arguments).assert_refused(arguments, expected);
    }
}

/// A network computes in parallel while plans are computed: there is no deadlock, and the results
/// do not depend on threads.
#[test]
fn plans_of_a_network_do_not_depend_on_threads() {
    use isochrone::{
        data::{Dataset, formats::ReadOptions},
        envs::EnvId,
        learn::model::{CheckpointSelector, Model},
        plan::{PlanMethod, PlannedPolicy, Planner, Transitions},
        rollout::RolloutConfig,
    };
    let folder = tempfile::tempdir().unwrap();
    trained(folder.path());
    let model = Model::open(&folder.path().join("runs/a"), CheckpointSelector::Last).unwrap();
    let data = Dataset::load(folder.path().join("streets.npz"), ReadOptions::default()).unwrap();
    let (distance, policy) = (model.distance.as_ref().unwrap(), model.policy.as_ref().unwrap());
    let run = |threads: usize, method: PlanMethod| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let planner = Planner::new(method, distance, Transitions::sample(&data, 300, 0)).unwrap();
            let planned = PlannedPolicy { planner, policy };
            let env = EnvId::from_name("nav2d").unwrap().make().unwrap();
            RolloutConfig { episodes: 200, seed: 1 }.run(&env, &planned)
        })
    };
    for method in [PlanMethod::Greedy { radius: 1.0 }, PlanMethod::Graph { max_edge_steps: 20.0 }] {
        assert_eq!(run(1, method), run(4, method), "{method:?}");
    }
}
