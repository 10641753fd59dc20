//! Tests of `isochrone train`, `runs` and `distance`.

use crate::run::{isochrone, isochrone_in, workspace};
use std::path::Path;

/// Trains a short run in a directory.
fn train(folder: &Path, arguments: &str) -> crate::run::Outcome {
    let data = workspace().join("examples/walks.csv");
    isochrone_in(
        folder,
        &format!(
            "train --data {} --observations x,y --size small --threads 1 --steps 40 batch_size=32 {arguments}",
            data.display()
        ),
    )
}

#[test]
fn help() {
    for command in ["train", "runs", "distance"] {
        insta::assert_snapshot!(
            format!("help_{command}"),
            isochrone(&format!("{command} --help")).transcript()
        );
    }
}

/// Every command that computes networks has the flag.
#[test]
fn wrong_devices_are_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let commands = [
        "train --data walks.csv",
        "distance runs/a --from 0,0 --to 1,1",
        "plan runs/a --from 0,0 --to 1,1",
        "eval runs/a",
        "audit runs/a",
        "distill runs/a",
        "plot map runs/a --to 1,1 -o map.svg",
        "plot report runs -o report.html",
        "plot calibration runs/a -o calibration.svg",
        "reproduce nav2d --quick",
        "reproduce distances --quick",
        "reproduce episode-leak",
    ];
    for command in commands {
        for device in ["gpu", "cuda:0", "wgpu:first", "wgpu:-1"] {
            let refused = isochrone_in(folder.path(), &format!("{command} --device {device}"));
            assert_eq!(refused.code, Some(2), "{command}: {}", refused.stderr);
            let expected = format!(
                "invalid value '{device}' for '--device <DEVICE>': not a device; hint: use cpu, wgpu or wgpu:INDEX"
            );
            assert!(refused.stderr.contains(&expected), "{command}: {}", refused.stderr);
        }
        if !cfg!(feature = "wgpu") {
            let refused = isochrone_in(folder.path(), &format!("{command} --device wgpu:0"));
            assert_eq!(refused.code, Some(2), "{command}: {}", refused.stderr);
            assert!(refused.stderr.contains("hint: build it with --features wgpu"), "{}", refused.stderr);
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_manifest_records_the_device_and_the_revision() {
    let folder = tempfile::tempdir().unwrap();
    let trained = train(folder.path(), "--run runs/a --device cpu");
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    // The batch of 32 is smaller than the default of rows per episode.
    assert!(trained.stderr.contains("all 32 rows of a batch are from one episode"), "{}", trained.stderr);
    let manifest = std::fs::read_to_string(folder.path().join("runs/a/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["made_by"]["device"], "cpu");
    let revision = manifest["made_by"]["git_revision"].as_str();
    assert_eq!(revision, option_env!("ISOCHRONE_GIT_REVISION"));
    let is_hash = |text: &str| text.len() == 40 && text.chars().all(|digit| digit.is_ascii_hexdigit());
    assert!(revision.is_none_or(|text| is_hash(text.trim_end_matches('+'))), "{revision:?}");
    let query = |device: &str| {
        let query = format!("distance runs/a --distance learned --from 0,0 --to 3,3 {device} --json");
        isochrone_in(folder.path(), &query)
    };
    assert_eq!(query("--device cpu").stdout, query("").stdout);
    // With the feature, an adapter that does not exist; without it, a device that is not built.
    let missing = query("--device wgpu:1000");
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("hint: "), "{}", missing.stderr);
}

/// Run by `just test-gpu`: on a GPU or a software driver, and back to the CPU.
#[cfg(feature = "wgpu")]
#[test]
fn a_run_moves_from_a_graphics_processor_to_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let trained = train(folder.path(), "--run runs/a --device wgpu:0");
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let manifest = std::fs::read_to_string(folder.path().join("runs/a/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert!(manifest["made_by"]["device"].as_str().unwrap().starts_with("wgpu:0 ("), "{manifest}");
    let steps = |device: &str| {
        let query =
            format!("distance runs/a --distance learned --from 0,0 --to 3,3 --device {device} --json");
        let queried = isochrone_in(folder.path(), &query);
        let queried: serde_json::Value = serde_json::from_str(&queried.stdout).unwrap();
        queried["rows"][0]["steps"].as_f64().unwrap()
    };
    let (on_cpu, on_gpu) = (steps("cpu"), steps("wgpu"));
    assert!((on_cpu - on_gpu).abs() < 1e-3 * on_cpu.max(1.0), "{on_cpu} {on_gpu}");
}

/// The commands of the README work on a small table.
#[test]
fn train_list_and_query() {
    let folder = tempfile::tempdir().unwrap();
    let trained = train(folder.path(), "--run runs/a --json");
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let result: serde_json::Value = serde_json::from_str(&trained.stdout).unwrap();
    assert_eq!((result["step"].as_u64(), result["state"].as_str()), (Some(40), Some("finished")));
    assert!(result["metrics"]["critic/loss"].as_f64().unwrap() > 0.0);
    assert!(
        trained.stderr.contains("steps/s") && trained.stderr.contains("rank correlation"),
        "{}",
        trained.stderr
    );
    assert_eq!(train(folder.path(), "--run runs/b --algorithm gcbc").code, Some(0));

    let listed = isochrone_in(folder.path(), "runs --json");
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let rows = listed["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0]["run"].as_str(), rows[1]["algorithm"].as_str()), (Some("runs/a"), Some("gcbc")));
    assert!(rows[1]["critic/loss"].is_null());
    let drawn = isochrone_in(folder.path(), "runs runs/a --plot curves.svg");
    assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
    let figure = std::fs::read_to_string(folder.path().join("curves.svg")).unwrap();
    assert!(figure.contains("critic/loss") && figure.contains("training steps"));

    let queried = isochrone_in(
        folder.path(),
        "distance runs/a --distance learned --from 0,0 --from @0:2..4 --to 3,3 --to @1:0 --fps 10 --json",
    );
    let queried: serde_json::Value = serde_json::from_str(&queried.stdout).unwrap();
    let rows = queried["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert_eq!((rows[5]["from"].as_str(), rows[5]["to"].as_str()), (Some("@0:3"), Some("@1:0")));
    let (steps, seconds) = (rows[0]["steps"].as_f64().unwrap(), rows[0]["seconds"].as_f64().unwrap());
    assert!(steps > 0.0 && (seconds - steps / 10.0).abs() < 1e-9);
    let nats = rows[0]["nats"].as_f64().unwrap();
    assert!((steps - nats / (1.0f64 / 0.9).ln()).abs() < 1e-9, "{steps} {nats}");
    // From all states of an episode to its end, and from a point far from the data.
    let done = isochrone_in(folder.path(), "distance runs/a --from @2 --to @2:last --csv");
    assert!(done.stdout.lines().count() > 10 && done.stdout.trim_end().ends_with("0,0"), "{}", done.stdout);
    let far = isochrone_in(folder.path(), "distance runs/a --from 1e6,0 --to 0,0");
    assert!(
        far.code == Some(0) && far.stderr.contains("--from 1e6,0") && far.stderr.contains("deviations"),
        "{}",
        far.stderr
    );
    // The timestamps give the duration of a step.
    assert!(far.stdout.contains("seconds"), "{}", far.stdout);
    // Recorded time is the default distance.
    let query = |arguments: &str| {
        let queried = isochrone_in(folder.path(), &format!("distance runs/a {arguments} --json"));
        assert!(queried.stderr.contains("one recorded step has distance"), "{}", queried.stderr);
        let report: serde_json::Value = serde_json::from_str(&queried.stdout).unwrap();
        (report["distance"].as_str().unwrap().to_owned(), report["rows"][0]["steps"].as_f64())
    };
    let (which, ahead) = query("--from @0:2 --to @0:12");
    assert_eq!(which, "refined");
    assert!((5.0..15.0).contains(&ahead.unwrap()), "{ahead:?}");
    assert_eq!(query("--from @0:2 --to @0:12 --distance calibrated").0, "calibrated");
    // The distance of a state to itself is 0.
    let here = isochrone_in(folder.path(), "distance runs/a --from 1,2 --to 1,2 --paired --csv");
    assert!(here.stdout.contains("\"1,2\",\"1,2\",0,0"), "{}", here.stdout);
}

/// A run with the config.toml of another run is bit-identical.
#[test]
fn a_resolved_configuration_reproduces_a_run() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(train(folder.path(), "--run runs/a learner.critic.width=16").code, Some(0));
    let again = isochrone_in(folder.path(), "train runs/a/config.toml --run runs/b --threads 2");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let weights = |run: &str| {
        std::fs::read(folder.path().join(run).join("checkpoints/step-000000000040/weights.safetensors"))
            .unwrap()
    };
    assert!(weights("runs/a") == weights("runs/b"), "the weights do not depend on the thread count");
    let config = |run: &str| std::fs::read_to_string(folder.path().join(run).join("config.toml")).unwrap();
    assert_eq!(config("runs/a"), config("runs/b"));
    assert!(config("runs/a").contains("width = 16"));
}

/// Paths may be relative, and a run can be resumed and queried from any directory.
#[test]
fn a_run_does_not_depend_on_the_working_directory() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::copy(workspace().join("examples/walks.csv"), folder.path().join("walks.csv")).unwrap();
    std::fs::create_dir(folder.path().join("settings")).unwrap();
    std::fs::write(
        folder.path().join("settings/run.toml"),
        "steps = 6\nbatch_size = 16\n[data]\npath = \"../walks.csv\"\n[data.read]\nobservations = [\"x\", \"y\"]\n",
    )
    .unwrap();
    for arguments in [
        "train --data walks.csv --observations x,y --size small --steps 6 --run a",
        "train settings/run.toml --size small --run b",
    ] {
        let trained = isochrone_in(folder.path(), arguments);
        assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    }
    for name in ["a", "b"] {
        let run = folder.path().join(name);
        let resumed = isochrone_in(elsewhere.path(), &format!("train --resume {}", run.display()));
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        let queried =
            isochrone_in(elsewhere.path(), &format!("distance {} --from @0:0 --to @0:3", run.display()));
        assert_eq!(queried.code, Some(0), "{}", queried.stderr);
    }
}

/// Every mistake gives one line that names what is wrong and ends in a hint.
#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(train(folder.path(), "--run runs/a").code, Some(0));
    let walks = workspace().join("examples/walks.csv");
    let cases = [
        ("train".to_owned(), "no training data"),
        ("train --data nowhere.npz".to_owned(), "nowhere.npz"),
        ("train nowhere.toml --data x".to_owned(), "nowhere.toml"),
        (format!("train --data {} --observations x,q", walks.display()), "q"),
        (
            format!("train --data {} --observations x,y learner.critic.wide=3", walks.display()),
            "learner.critic.wide",
        ),
        (
            format!("train --data {} --observations x,y learning_rate=1e-3", walks.display()),
            "learner.critic_optimizer.learning_rate",
        ),
        (
            format!("train --data {} --observations x,y learner.critic.width=0", walks.display()),
            "learner.critic",
        ),
        (format!("train --data {} --observations x,y --run runs/a", walks.display()), "--resume"),
        ("train --resume runs/a --observations x".to_owned(), "--observations"),
        (format!("train --data {} --observations x,y --threads 0", walks.display()), "--threads 0"),
        ("train --resume runs/nowhere".to_owned(), "runs/nowhere"),
        ("runs nowhere".to_owned(), "nowhere"),
        ("runs --metrics none".to_owned(), "critic/loss"),
        ("distance runs/nowhere --from 0,0 --to 1,1".to_owned(), "runs/nowhere"),
        ("distance runs/a --from 0 --to 1,1".to_owned(), "2 dimensions"),
        ("train --data x --steps 3 steps=4".to_owned(), "set both by flag"),
        ("train learner.critic.width --data x".to_owned(), "NAME=VALUE"),
        ("distance runs/a --from 0,x --to 1,1".to_owned(), "'0,x'"),
        ("distance runs/a --from @99:0 --to 1,1".to_owned(), "episodes are 0 to 23"),
        ("distance runs/a --from @0:9999 --to 1,1".to_owned(), "episode 0 has rows"),
        ("distance runs/a --from 0,0 --to 1,1 --checkpoint 7".to_owned(), "step-000000000007"),
        ("distance runs/a --from 0,0 --from 1,1 --to 1,1 --paired".to_owned(), "--paired"),
    ];
    for (arguments, expected) in cases {
        let outcome = isochrone_in(folder.path(), &arguments);
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        assert_eq!((outcome.code, lines.len()), (Some(2), 1), "{arguments}: {}", outcome.stderr);
        assert!(lines[0].contains(expected) && lines[0].contains("hint:"), "{arguments}: {}", lines[0]);
    }
    // An invalid setting leaves no files behind that would prevent the next run.
    assert_eq!(train(folder.path(), "--run runs/b --algorithm gcbc learner.policy.width=0").code, Some(2));
    assert_eq!(train(folder.path(), "--run runs/b --algorithm gcbc").code, Some(0));
    let cloning = isochrone_in(folder.path(), "distance runs/b --distance learned --from 0,0 --to 1,1");
    assert!(cloning.stderr.contains("learns no distance"), "{}", cloning.stderr);
}

/// `isochrone train 2>&1 | head` closes the pipe.
#[test]
fn training_continues_after_the_pipe_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let data = workspace().join("examples/walks.csv");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args([
            "train",
            "--observations",
            "x,y",
            "--size",
            "small",
            "--steps",
            "40",
            "--run",
            "a",
            "batch_size=16",
            "--data",
        ])
        .arg(data)
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert!(child.wait().unwrap().success());
    let run = isochrone::learn::run::Run::open(&folder.path().join("a")).unwrap();
    assert_eq!(run.status().unwrap().state, isochrone::learn::run::State::Finished);
}

/// A new run and a resumed run both reject an `.arrow` file that was changed.
#[test]
fn corrupt_data_are_not_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| isochrone_in(folder.path(), arguments);
    let table = workspace().join("examples/walks.csv");
    assert_eq!(run(&format!("data convert {} --observations x,y -o w.arrow", table.display())).code, Some(0));
    let start = "train --data w.arrow --size small --threads 1 batch_size=32";
    let trained = run(&format!("{start} --steps 4 --run runs/a"));
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let path = folder.path().join("w.arrow");
    let original = std::fs::read(&path).unwrap();
    for share in [0.3, 0.5, 0.7] {
        let mut bytes = original.clone();
        bytes[(original.len() as f64 * share) as usize] ^= 16;
        std::fs::write(&path, bytes).unwrap();
        for arguments in [&format!("{start} --steps 4 --run runs/b"), "train --resume runs/a"] {
            let refused = run(arguments);
            assert_eq!(refused.code, Some(2), "{arguments}: {}", refused.stdout);
            assert!(refused.stderr.contains("do not match its checksum"), "{arguments}: {}", refused.stderr);
        }
        let inspected = run("data inspect w.arrow");
        assert!(inspected.stderr.contains("do not match its checksum"), "{}", inspected.stderr);
        let validated = run("data validate w.arrow");
        assert!(
            validated.code == Some(1) && validated.stdout.contains("content-hash"),
            "{}",
            validated.stdout
        );
    }
    assert!(!folder.path().join("runs/b").exists());
}
