//! Datasets of several files, and addresses.

use crate::run::{isochrone_in, workspace};
use std::fs;

#[test]
fn shards_train_to_the_bits_of_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let walks = workspace().join("examples/walks.csv");
    let run = |command: &str| {
        let outcome = isochrone_in(folder.path(), command);
        assert_eq!(outcome.code, Some(0), "isochrone {command}: {}", outcome.stderr);
        outcome.stdout
    };
    let convert = format!("data convert {} --observations x,y --actions action_x,action_y", walks.display());
    let one = run(&format!("{convert} -o one.arrow"));
    let many = run(&format!("{convert} --shard-rows 200 -o many"));
    let after_name = |text: &str| text.split_once(": ").unwrap().1.to_owned();
    assert_eq!(after_name(&one), after_name(&many), "counts and content hash");
    let shards = fs::read_dir(folder.path().join("many")).unwrap().count() - 1;
    assert!(shards > 2, "{shards} shards");
    let inspected = |name: &str| run(&format!("data inspect {name} --json"));
    let hash = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        value["content_sha256"].as_str().expect("a hash").to_owned()
    };
    assert_eq!(hash(&inspected("many")), hash(&inspected("one.arrow")));
    for name in ["one.arrow", "many"] {
        run(&format!("train --data {name} --size small --steps 20 --seed 3 --run runs/{name}"));
    }
    let weights = |name: &str| {
        let folder = folder.path().join("runs").join(name).join("checkpoints");
        let mut files: Vec<_> =
            walk(&folder).into_iter().filter(|path| path.ends_with("weights.safetensors")).collect();
        files.sort();
        fs::read(files.last().unwrap_or_else(|| panic!("no weights in {}", folder.display()))).unwrap()
    };
    assert!(weights("one.arrow") == weights("many"), "weights differ");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

#[cfg(not(feature = "remote"))]
#[test]
fn an_address_without_the_feature_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        "data inspect s3://logs/walks",
        "train --data hf://datasets/org/walks",
        "data validate https://host/x.csv",
        "score s3://logs/walks scored --run runs/a --to last",
    ] {
        let outcome = isochrone_in(folder.path(), command);
        assert_eq!(outcome.code, Some(2), "{command}");
        assert!(
            outcome.stderr.contains(
                "this build cannot read remote datasets; hint: build with the Cargo feature `remote`"
            ),
            "{command}: {}",
            outcome.stderr
        );
    }
    let outcome = isochrone_in(folder.path(), "data inspect ftp://host/x.csv");
    assert!(outcome.stderr.contains("unknown scheme 'ftp'"), "{}", outcome.stderr);
}
