//! Tests of `isochrone export`.

use crate::run::{isochrone, isochrone_in, workspace};
use std::path::Path;

/// Trains a short run on the walks of the examples.
fn train(folder: &Path, run: &str, arguments: &str) {
    let walks = workspace().join("examples/walks.csv");
    let command = format!(
        "train --data {} --observations x,y --size small --threads 1 --steps 4 batch_size=16 --run {run} {arguments}",
        walks.display()
    );
    let trained = isochrone_in(folder, &command);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
}

#[test]
fn help() {
    insta::assert_snapshot!("help_export", isochrone("export --help").transcript());
}

#[test]
fn every_part_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), "runs/a", "");
    for (part, output) in [("distance", "distance"), ("policy", "action"), ("embedding", "embedding")] {
        let command = format!("export runs/a --part {part} -o {part}.onnx --checkpoint 4 --json");
        let exported = isochrone_in(folder.path(), &command);
        assert_eq!(exported.code, Some(0), "{}", exported.stderr);
        let report: serde_json::Value = serde_json::from_str(&exported.stdout).unwrap();
        let row = &report["rows"][0];
        assert_eq!((row["part"].as_str(), row["output"].as_str()), (Some(part), Some(output)));
        assert_eq!((row["algorithm"].as_str(), row["step"].as_u64()), (Some("cmd1"), Some(4)));
        let bytes = std::fs::read(folder.path().join(format!("{part}.onnx"))).unwrap();
        assert_eq!(report["bytes"].as_u64(), Some(bytes.len() as u64));
        let contains = |name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
        assert!(["isochrone", "cmd1", "observation", output].into_iter().all(contains));
    }
    // The distance is the default, and a file is overwritten only on request.
    let again = isochrone_in(folder.path(), "export runs/a -o distance.onnx");
    assert!(again.code == Some(2) && again.stderr.contains("--force"), "{}", again.stderr);
    let forced = isochrone_in(folder.path(), "export runs/a -o distance.onnx --force");
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert!(forced.stderr.contains("wrote distance.onnx"), "{}", forced.stderr);
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), "runs/clone", "--algorithm gcbc");
    train(folder.path(), "runs/value", "--algorithm gciql");
    let log: String = (0..40).map(|step| format!("0,{step},{}\n", step % 7)).collect();
    std::fs::write(folder.path().join("log.csv"), format!("episode,x,y\n{log}")).unwrap();
    let states =
        "train --data log.csv --observations x,y --size small --steps 2 batch_size=8 --run runs/states";
    assert_eq!(isochrone_in(folder.path(), states).code, Some(0));
    for (arguments, expected) in [
        ("runs/clone -o a.onnx", "hint: export the policy (--part policy)"),
        ("runs/clone -o a.onnx --part embedding", "hint: export the policy (--part policy)"),
        ("runs/value -o a.onnx --part embedding", "gciql is not a quasimetric"),
        ("runs/states -o a.onnx --part policy", "the model has no policy"),
        ("runs/value -o model.pt", "hint: use -o model.onnx"),
        ("runs/value -o .onnx", "does not end in .onnx"),
        ("runs/value -o no/such/folder/a.onnx", "no/such/folder"),
        ("runs/value -o a.onnx --checkpoint 9", "existing steps: "),
        ("runs/value -o a.onnx --part critic", "critic"),
        ("runs/value", "--output"),
        ("runs/none -o a.onnx", "runs/none"),
    ] {
        let refused = isochrone_in(folder.path(), &format!("export {arguments}"));
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{arguments}: {}", refused.stderr);
        let errors: Vec<&str> = refused.stderr.lines().collect();
        assert!(errors.len() == 1 && errors[0].starts_with("error: "), "{arguments}: {}", refused.stderr);
        assert!(errors[0].contains(expected) && errors[0].contains("hint: "), "{arguments}: {}", errors[0]);
    }
    assert!(!folder.path().join("a.onnx").exists());
}
