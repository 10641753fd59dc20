//! LeRobot datasets from a folder or by their ids: tasks, cameras, hold-out, embeddings.

use crate::run::{Outcome, workspace};
use isochrone::data::tables::{Column, write_npy, write_parquet};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};

const EPISODES: usize = 12;
const FRAMES: usize = 8;

/// Writes a dataset with two tasks, of which every third episode fails.
fn dataset(root: &Path) {
    fs::create_dir_all(root.join("data/chunk-000")).unwrap();
    fs::create_dir_all(root.join("meta")).unwrap();
    let column = |value: fn(usize) -> f64| Column::Numbers((0..EPISODES * FRAMES).map(value).collect());
    let columns = [
        ("observation.state", column(|at| (at % FRAMES) as f64 + (at / FRAMES) as f64 / 10.0)),
        ("action", column(|at| (at as f64).sin())),
        ("frame_index", column(|at| (at % FRAMES) as f64)),
        ("episode_index", column(|at| (at / FRAMES) as f64)),
        ("index", column(|at| at as f64)),
        ("task_index", column(|at| f64::from(u8::from(at / FRAMES >= 8)))),
        (
            "next.success",
            column(|at| f64::from(u8::from(at % FRAMES == FRAMES - 1 && !(at / FRAMES).is_multiple_of(3)))),
        ),
    ];
    write_parquet(&root.join("data/chunk-000/file-000.parquet"), &columns).unwrap();
    let camera = json!({"dtype": "video", "shape": [480, 640, 3]});
    let info = json!({
        "codebase_version": "v2.1", "fps": 30, "total_episodes": EPISODES, "total_frames": EPISODES * FRAMES,
        "features": {"observation.images.top": camera},
    });
    fs::write(root.join("meta/info.json"), info.to_string()).unwrap();
    let tasks = "{\"task_index\": 0, \"task\": \"open\"}\n{\"task_index\": 1, \"task\": \"close\"}\n";
    fs::write(root.join("meta/tasks.jsonl"), tasks).unwrap();
}

/// Runs the command with a folder of downloaded datasets.
fn isochrone_with_hub(folder: &Path, arguments: &str) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env("HF_LEROBOT_HOME", folder.join("hub-home"))
        .env("HF_HUB_CACHE", folder.join("hub-cache"))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn ids_tasks_and_cameras() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| isochrone_with_hub(folder.path(), arguments);
    let id = "data inspect org/drawer";
    run(id).assert_refused(id, "org/drawer: no such file, and no dataset in ");
    dataset(&folder.path().join("hub-home/org/drawer"));
    let text = run(id).stdout;
    for line in [
        "drawer (lerobot)",
        "frame rate   30 per second",
        "task         open: 8 episodes, 5 with success",
        "task         close: 4 episodes, 3 with success",
        "camera       observation.images.top (video): not read; add embeddings",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let report: Value = serde_json::from_str(&run(&format!("{id} --json")).stdout).unwrap();
    assert_eq!(report["tasks"][1], json!({"name": "close", "episodes": 4, "successes": 3}));
    assert_eq!(report["cameras"][0]["shape"], json!([480, 640, 3]));
}

#[test]
fn a_wide_column_has_one_line() {
    let folder = tempfile::tempdir().unwrap();
    dataset(&folder.path().join("drawer"));
    let values: Vec<f64> = (0..EPISODES * FRAMES * 40).map(|at| ((at * at) as f64).sin()).collect();
    write_npy(&folder.path().join("top.npy"), &[EPISODES * FRAMES, 40], &values).unwrap();
    let inspect = |more: &str| {
        isochrone_with_hub(folder.path(), &format!("data inspect drawer --embedding top.npy --pca 0 {more}"))
    };
    let text = inspect("").stdout;
    assert!(text.contains("observation  top (40 dimensions)"), "{text}");
    assert!(!text.contains("top[0]"), "{text}");
    let report: Value = serde_json::from_str(&inspect("--json").stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["column"] == "top[39]"), "JSON is complete");
}

#[test]
fn one_of_ten_episodes_is_held_out() {
    let folder = tempfile::tempdir().unwrap();
    dataset(&folder.path().join("hub-home/org/drawer"));
    let train = |arguments: &str| {
        let common = "train --size small --threads 1 --steps 4 batch_size=8 --data";
        isochrone_with_hub(folder.path(), &format!("{common} {arguments}"))
    };
    let manifest = |run: &str| -> Value {
        let text = fs::read_to_string(folder.path().join(run).join("manifest.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let trained = train("org/drawer --run held");
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    assert!(trained.stderr.contains("one of 10 episodes is held out for validation"), "{}", trained.stderr);
    let parts = |run: &str| {
        (manifest(run)["data"]["episodes"].clone(), manifest(run)["validation"]["episodes"].clone())
    };
    assert_eq!(parts("held"), (json!(11), json!(1)));
    let config = fs::read_to_string(folder.path().join("held/config.toml")).unwrap();
    assert!(config.contains("hold_out = 10"), "{config}");
    // Queries are about all episodes, and a resumed run divides them alike.
    let distance = isochrone_with_hub(folder.path(), "distance held --from @11:0 --to @9:last");
    assert_eq!(distance.code, Some(0), "{}", distance.stderr);
    assert_eq!(isochrone_with_hub(folder.path(), "train --resume held").code, Some(0));

    assert_eq!(train("org/drawer --run all data.hold_out=0").code, Some(0));
    assert_eq!(parts("all"), (json!(12), Value::Null));
    train("org/drawer --run none data.hold_out=13").assert_refused("data.hold_out=13", "data.hold_out");
    let table = workspace().join("examples/walks.csv");
    let other = train(&format!("{} --observations x,y --run table", table.display()));
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    let config = fs::read_to_string(folder.path().join("table/config.toml")).unwrap();
    assert!(!config.contains("hold_out"), "other formats are not divided: {config}");
}

#[test]
fn embeddings_are_part_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    dataset(&folder.path().join("drawer"));
    let write = |factor: f64| {
        let values: Vec<f64> =
            (0..EPISODES * FRAMES * 40).map(|at| (factor * (at * at) as f64).sin()).collect();
        write_npy(&folder.path().join("top.npy"), &[EPISODES * FRAMES, 40], &values).unwrap();
    };
    write(1.0);
    let run = |arguments: &str| isochrone_with_hub(folder.path(), arguments);
    let trained = run(
        "train --data drawer --embedding top.npy --pca 3 --size small --threads 1 --steps 4 batch_size=8 --run r",
    );
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let query = "distance r --from @0:0 --to @1:last";
    assert_eq!(run(query).code, Some(0), "{}", run(query).stderr);
    let other = "distance r --data drawer --from @0:0 --to @1:last";
    run(other).assert_refused(other, "embeddings of its training data only");
    write(2.0);
    run(query).assert_refused(query, "the contents changed since the run was trained");
}
