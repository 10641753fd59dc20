//! Modified run directories: files outside a run are not touched, and edits are not used silently.

use crate::run::{Outcome, isochrone_in, workspace};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Trains a short run in `folder/run`, on a copy of the data in `folder`.
fn train(folder: &Path) {
    fs::copy(workspace().join("examples/walks.csv"), folder.join("walks.csv")).unwrap();
    let arguments = "train --data walks.csv --observations x,y --size small --threads 1 --steps 6 batch_size=16 checkpoints.every=3 --run run";
    let trained = isochrone_in(folder, arguments);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
}

/// Asserts that the command failed with one line that names `path` and has a hint.
fn assert_refused(outcome: &Outcome, path: &str, what: &str) {
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!((outcome.code, lines.len()), (Some(2), 1), "{what}: {}", outcome.stderr);
    assert!(lines[0].contains(path) && lines[0].contains("hint:"), "{what}: {}", lines[0]);
}

/// Burn reads `burn.toml` from the working directory or its parents, and writes its log to the path
/// set there.
#[test]
fn burn_toml_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("data/walks");
    fs::create_dir_all(&below).unwrap();
    let victim = folder.path().join("victim.txt");
    let settings = format!("[autodiff.logger]\nlevel = \"full\"\nfile = {victim:?}\nappend = false\n");
    for place in [&below, folder.path()] {
        fs::write(&victim, "my thesis").unwrap();
        fs::write(place.join("burn.toml"), &settings).unwrap();
        train(&below);
        let queried = isochrone_in(&below, "distance run --distance learned --from 0,0 --to 1,1");
        assert_eq!(queried.code, Some(0), "{}", queried.stderr);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "my thesis", "burn.toml in {}", place.display());
        fs::remove_file(place.join("burn.toml")).unwrap();
        fs::remove_dir_all(below.join("run")).unwrap();
    }
}

/// A folder that is not of a run may have files of the same names, which other tools write.
#[test]
fn files_of_others_at_the_places_of_a_run_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(workspace().join("examples/walks.csv"), folder.path().join("walks.csv")).unwrap();
    let command = "train --data walks.csv --observations x,y --size small --threads 1 --steps 2 --run run";
    let run = folder.path().join("run");
    for name in [
        "manifest.json",
        "status.json",
        "metrics.jsonl",
        "sessions.jsonl",
        "refined.npz",
        "distilled.safetensors",
    ] {
        fs::create_dir(&run).unwrap();
        fs::write(run.join(name), "{\"loss\": 1}\n").unwrap();
        assert_refused(&isochrone_in(folder.path(), command), name, name);
        assert_eq!(fs::read_to_string(run.join(name)).unwrap(), "{\"loss\": 1}\n", "{name}");
        assert_eq!(fs::read_dir(&run).unwrap().count(), 1, "nothing is written beside {name}");
        fs::remove_dir_all(&run).unwrap();
    }
    // What a process leaves that was killed before its first checkpoint.
    train(folder.path());
    let manifest = fs::read(run.join("manifest.json")).unwrap();
    fs::remove_dir_all(&run).unwrap();
    fs::create_dir_all(run.join("checkpoints")).unwrap();
    fs::write(run.join("lock"), "").unwrap();
    fs::write(run.join("manifest.json"), manifest).unwrap();
    assert_eq!(isochrone_in(folder.path(), command).code, Some(0));
}

/// The data of a run may move, and the hint names what to do.
#[test]
fn moved_data_are_found_again() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path());
    fs::rename(folder.path().join("walks.csv"), folder.path().join("moved.csv")).unwrap();
    let query = "distance run --distance learned --from @0:0 --to @0:3";
    assert_refused(&isochrone_in(folder.path(), query), "--data FILE", "moved data");
    let query = isochrone_in(folder.path(), &format!("{query} --data moved.csv"));
    assert_eq!(query.code, Some(0), "{}", query.stderr);
    let resumed = isochrone_in(folder.path(), "train --resume run");
    assert_refused(&resumed, "walks.csv", "moved data");
    assert!(resumed.stderr.contains("data.path") && resumed.stderr.contains("--accept-edits"));
}

/// Returns the paths and contents of all files below a directory.
#[cfg(unix)]
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => found.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

/// Every part of a run is replaced by a symbolic link to an outside file or directory: `train`
/// fails, and the targets stay unchanged.
#[cfg(unix)]
#[test]
fn symbolic_links_inside_a_run_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path());
    let (run, outside) = (folder.path().join("run"), folder.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    let events = contents(&run).into_iter().map(|(path, _)| path.file_name().unwrap().to_owned());
    let events = events.into_iter().find(|name| name.to_string_lossy().contains("tfevents")).unwrap();
    let mut parts: Vec<PathBuf> =
        ["config.toml", "manifest.json", "status.json", "metrics.jsonl", "sessions.jsonl", "lock"]
            .map(PathBuf::from)
            .to_vec();
    parts.extend([events.into(), "checkpoints".into(), "checkpoints/step-000000000003".into()]);
    for name in ["weights.safetensors", "training.safetensors", "checkpoint.json", "SHA256SUMS"] {
        parts.push(Path::new("checkpoints/step-000000000006").join(name));
    }
    // Files that are written later.
    parts.extend(
        [
            "refined.npz",
            "nearest",
            "distilled.safetensors",
            "distilled-policy.safetensors",
            "distilled-waypoints.safetensors",
        ]
        .map(PathBuf::from),
    );
    // Temporary files have their own names.
    parts.extend([".unfinished-status.json".into(), "checkpoints/.unfinished-step-000000000006".into()]);
    for part in parts {
        let (inside, target) = (run.join(&part), outside.join("target"));
        let was_there = inside.exists();
        match was_there {
            true => fs::rename(&inside, &target).unwrap(),
            false => fs::write(&target, "my thesis").unwrap(),
        }
        if part.ends_with("lock") {
            fs::write(&target, "my thesis").unwrap();
        }
        if part.ends_with("checkpoints") {
            fs::create_dir(target.join("step-000000000999")).unwrap();
            fs::write(target.join("step-000000000999/notes.txt"), "my thesis").unwrap();
        }
        std::os::unix::fs::symlink(&target, &inside).unwrap();
        let before = contents(&outside);
        let outcome = isochrone_in(folder.path(), "train --resume run --threads 1");
        assert!(contents(&outside) == before, "{}: the target of the link was changed", part.display());
        assert_refused(&outcome, part.to_str().unwrap(), "a link");
        // A new run is not started in a directory with links either.
        fs::rename(&run, folder.path().join("elsewhere")).unwrap();
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&target, &inside).unwrap();
        let started =
            isochrone_in(folder.path(), "train --data walks.csv --observations x,y --steps 2 --run run");
        assert!(contents(&outside) == before, "{}: the target of the link was changed", part.display());
        assert_eq!(started.code, Some(2), "{}", started.stderr);
        fs::remove_dir_all(&run).unwrap();
        fs::rename(folder.path().join("elsewhere"), &run).unwrap();
        fs::remove_file(&inside).unwrap();
        if part.ends_with("checkpoints") {
            fs::remove_dir_all(target.join("step-000000000999")).unwrap();
        }
        match was_there {
            true => fs::rename(&target, &inside).unwrap(),
            false => fs::remove_file(&target).unwrap(),
        }
    }
    let resumed = isochrone_in(folder.path(), "train --resume run --threads 1");
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
}

/// A link to a run directory is created by the user, and is valid.
#[cfg(unix)]
#[test]
fn a_link_to_a_run_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path());
    std::os::unix::fs::symlink(folder.path().join("run"), folder.path().join("latest")).unwrap();
    for arguments in ["train --resume latest", "distance latest --from 0,0 --to 1,1"] {
        let outcome = isochrone_in(folder.path(), arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
}

/// A directory that is named like a checkpoint but has other files is not removed.
#[test]
fn directories_with_other_files_are_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path());
    for name in ["step-000000000999", ".unfinished-mine"] {
        let target = folder.path().join("run/checkpoints").join(name);
        fs::create_dir(&target).unwrap();
        fs::write(target.join("notes.txt"), "my thesis").unwrap();
        let outcome = isochrone_in(folder.path(), "train --resume run");
        assert_eq!(fs::read_to_string(target.join("notes.txt")).unwrap(), "my thesis");
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        let error = outcome.stderr.lines().last().unwrap();
        assert!(error.contains("notes.txt") && error.contains("hint:"), "{error}");
        fs::remove_dir_all(&target).unwrap();
    }
}

/// All commands fail if one digit of config.toml or manifest.json was edited, unless edits are
/// accepted.
#[test]
fn edited_runs_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path());
    let query = "distance run --distance learned --from @0:0 --to 3,3 --csv";
    let before = isochrone_in(folder.path(), query).stdout;
    for (file, from, to) in [
        ("config.toml", "discount = 0.9", "discount = 0.8"),
        ("manifest.json", "\"frames_per_second\": 9.99", "\"frames_per_second\": 19.99"),
    ] {
        let path = folder.path().join("run").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        for arguments in [
            query,
            "plan run --from @0:0 --to @0:5",
            "train --resume run",
            "runs run",
            "plot map run --to 1,1 -o map.svg",
            "plot curves run -o curves.svg",
            "plot calibration run -o calibration.svg",
            "plot report run -o report.html",
        ] {
            let outcome = isochrone_in(folder.path(), arguments);
            assert_refused(&outcome, &format!("run/{file}"), arguments);
            assert!(outcome.stderr.contains("--accept-edits"), "{}", outcome.stderr);
        }
        for arguments in [
            "runs run",
            "plot map run --to 1,1 -o map.svg",
            "plot curves run --metric critic/loss -o curves.svg",
            "plot calibration run -o calibration.svg",
            "plot report run -o report.html",
            "audit run",
        ] {
            let accepted = isochrone_in(folder.path(), &format!("{arguments} --accept-edits"));
            assert_eq!(accepted.code, Some(0), "{arguments}: {}", accepted.stderr);
        }
        let accepted = isochrone_in(folder.path(), &format!("{query} --accept-edits"));
        assert_eq!(accepted.code, Some(0), "{}", accepted.stderr);
        assert!(accepted.stdout != before, "an edit changes the distances");
        fs::write(&path, text).unwrap();
    }
    assert_eq!(isochrone_in(folder.path(), query).stdout, before);
}

/// Runs can be moved. The new path of moved data is given by a flag, or edited in config.toml,
/// which is an edit like any other.
#[test]
fn runs_and_data_can_be_moved() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path());
    let (old, new) = (folder.path().join("walks.csv"), folder.path().join("moved/walks.csv"));
    fs::create_dir(folder.path().join("moved")).unwrap();
    fs::rename(folder.path().join("run"), folder.path().join("moved/run")).unwrap();
    let code = |arguments: &str| isochrone_in(folder.path(), arguments).code;
    assert_eq!(code("train --resume moved/run"), Some(0));
    assert_eq!(code("distance moved/run --from @0:0 --to @0:3"), Some(0));
    fs::rename(&old, &new).unwrap();
    assert_eq!(code("distance moved/run --from @0:0 --to @0:3"), Some(2));
    assert_eq!(code("distance moved/run --from @0:0 --to @0:3 --data moved/walks.csv"), Some(0));
    let config = folder.path().join("moved/run/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace(old.to_str().unwrap(), new.to_str().unwrap())).unwrap();
    assert_refused(&isochrone_in(folder.path(), "train --resume moved/run"), "config.toml", "a path");
    assert_eq!(code("train --resume moved/run --accept-edits"), Some(0));
    assert_eq!(code("distance moved/run --from @0:0 --to @0:3 --accept-edits"), Some(0));
}
