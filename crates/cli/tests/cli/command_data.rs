//! Tests of `isochrone data`.

use crate::run::{isochrone, isochrone_in, workspace};

const FIXTURES: &str = "crates/data/tests/fixtures";

#[test]
fn help() {
    for command in ["", "inspect ", "validate ", "convert "] {
        let name = format!("data_help_{}", if command.is_empty() { "data" } else { command.trim() });
        insta::assert_snapshot!(name, isochrone(&format!("data {command}--help")).transcript());
    }
}

#[test]
fn inspect() {
    let transcript = |arguments: &str| isochrone(&format!("data inspect {arguments}")).transcript();
    insta::assert_snapshot!("data_inspect_table", transcript("examples/walks.csv --observations x,y"));
    insta::assert_snapshot!(
        "data_inspect_lerobot",
        transcript(&format!("{FIXTURES}/lerobot --no-extras --goal 0..2"))
    );
    insta::assert_snapshot!(
        "data_inspect_minari_json",
        transcript(&format!("{FIXTURES}/minari/goal-v0 --json"))
    );
}

#[test]
fn validate() {
    insta::assert_snapshot!(
        "data_validate_broken",
        isochrone("data validate examples/walks-broken.csv --observations x,y").transcript()
    );
    insta::assert_snapshot!(
        "data_validate_clean",
        isochrone("data validate examples/walks.csv --observations x,y --action-range -1,1").transcript()
    );
    let json = isochrone("data validate examples/walks-broken.csv --observations x,y --json");
    let report: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (json.code, report["passed"].as_bool(), report["errors"].as_u64()),
        (Some(1), Some(false), Some(3))
    );
}

#[test]
fn convert() {
    let folder = tempfile::tempdir().unwrap();
    let source = workspace().join("examples/walks.csv");
    let run = |arguments: &str| isochrone_in(folder.path(), &format!("data convert {arguments}"));
    let table = format!("{} --observations x,y", source.display());
    let first = run(&format!("{table} -o walks.arrow"));
    insta::assert_snapshot!("data_convert_arrow", first.transcript());
    insta::assert_snapshot!("data_convert_npz", run("walks.arrow -o walks.npz").transcript());
    insta::assert_snapshot!("data_convert_again", run("walks.arrow -o walks.npz").transcript());
    assert_eq!(run("walks.arrow -o walks.npz --force --json").code, Some(0));
    assert_eq!(run("walks.arrow -o walks-v0").code, Some(0));
    insta::assert_snapshot!("data_convert_folder", run("walks.arrow -o walks-v0 --force").transcript());
    let hash = |name: &str| {
        let inspected = isochrone_in(folder.path(), &format!("data inspect {name} --json"));
        let report: serde_json::Value = serde_json::from_str(&inspected.stdout).unwrap();
        report["content_sha256"].as_str().unwrap().to_owned()
    };
    assert!(first.stdout.contains(&hash("walks.arrow")), "the printed hash is the stored hash");
    for copy in ["walks.npz", "walks-v0"] {
        assert_eq!(hash(copy), hash("walks.arrow"), "{copy}: the hash does not depend on the format");
    }
}

#[test]
fn malformed_episodes_stop_a_conversion_without_keep_going() {
    let folder = tempfile::tempdir().unwrap();
    let source = workspace().join("examples/walks-broken.csv");
    let run = |more: &str| {
        isochrone_in(
            folder.path(),
            &format!("data convert {} --observations x,y -o w.arrow {more}", source.display()),
        )
    };
    let refused = run("");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("episode 9: it has a single state"), "{}", refused.stderr);
    assert!(!folder.path().join("w.arrow").exists());
    let kept = run("--keep-going");
    assert_eq!(kept.code, Some(0), "{}", kept.stderr);
    assert!(
        kept.stdout.contains("9 episodes") && kept.stderr.contains("1 defect,"),
        "{}{}",
        kept.stdout,
        kept.stderr
    );
}

/// Wrong files and wrong flags give one error line with a hint, and exit code 2.
#[test]
fn every_wrong_input_gets_one_line_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let fixture = |name: &str| std::fs::read(workspace().join(FIXTURES).join(name)).unwrap();
    for name in ["ogbench.npz", "d4rl.hdf5", "table-snappy.parquet"] {
        let bytes = fixture(name);
        put(name, &bytes);
        put(&format!("half-{name}"), &bytes[..bytes.len() / 2]);
        put(&format!("empty-{name}"), b"");
    }
    // A corrupt page makes the Parquet library panic.
    let mut page = fixture("table-snappy.parquet");
    (10..40).for_each(|at| page[at] ^= 0x55);
    put("page.parquet", &page);
    put("columns.csv", b"a,b\n1,2\n");
    put("noepisode.csv", b"obs_x,action\n1,2\n");
    put("text.csv", b"episode,obs_x\n1,left\n");
    put("letters.csv", b"episode,obs_x\n1,2\n1,left\n");
    put("header.csv", b"episode,obs_x\n");
    put("unclear.dat", b"?");
    put("x.arrow", b"ARROW1");
    std::fs::create_dir_all(folder.path().join("robot/meta")).unwrap();
    put("robot/meta/info.json", br#"{"codebase_version": "v1.6"}"#);
    std::fs::create_dir(folder.path().join("nothing")).unwrap();
    let cases = [
        "inspect missing.npz",
        "inspect unclear.dat",
        "inspect nothing",
        "inspect robot",
        "inspect half-ogbench.npz",
        "inspect empty-ogbench.npz",
        "inspect half-d4rl.hdf5",
        "inspect empty-d4rl.hdf5 --format d4rl",
        "inspect half-table-snappy.parquet --observations x",
        "inspect empty-table-snappy.parquet --observations x",
        "inspect page.parquet --observations x,y,height",
        "inspect x.arrow",
        "inspect columns.csv",
        "inspect columns.csv --observations a,z",
        "inspect columns.csv --observations a,b,a",
        "inspect noepisode.csv",
        "inspect text.csv",
        "inspect letters.csv",
        "inspect ogbench.npz --observations x",
        "inspect ogbench.npz --ends either",
        "inspect ogbench.npz --goal 2",
        "inspect ogbench.npz --goal 0..9",
        "inspect ogbench.npz --fps -3",
        "inspect ogbench.npz --extras mass",
        "inspect ogbench.npz --plot x.jpg",
        "validate ogbench.npz --action-range 1",
        "validate half-ogbench.npz",
        "convert ogbench.npz -o x.parquet",
        "convert ogbench.npz -o no/such/folder/x.npz",
        "convert header.csv -o x.npz",
        "convert ogbench.npz",
    ];
    let mut transcript = String::new();
    for case in cases {
        let outcome = isochrone_in(folder.path(), &format!("data {case}"));
        let lines = outcome.stderr.lines().count();
        assert!(
            outcome.code == Some(2)
                && lines == 1
                && outcome.stderr.contains("hint: ")
                && outcome.stdout.is_empty(),
            "{case}: {:?}\n{}{}",
            outcome.code,
            outcome.stdout,
            outcome.stderr
        );
        transcript += &format!("$ isochrone data {case}\n{}", outcome.stderr);
    }
    insta::assert_snapshot!("data_wrong_inputs", transcript);
}

/// Names of columns that are common for another role do not matter for the column of episodes.
#[test]
fn the_column_of_episodes_has_no_other_role() {
    for (flags, role) in [
        ("--time episode", "the time"),
        ("--reward episode", "the reward"),
        ("--episode x", "an observation or action"),
    ] {
        let arguments = format!("data inspect examples/walks.csv --observations x,y {flags}");
        let expected = format!("identifies episodes, and is also {role}");
        isochrone(&arguments).assert_refused(&arguments, &expected);
    }
    // `time` is a time only if it does not identify episodes.
    let inspected = isochrone("data inspect examples/walks.csv --observations x,y --episode time --json");
    assert_eq!(inspected.code, Some(0), "{}", inspected.stderr);
    assert!(inspected.stdout.contains("\"episodes\": 0"), "every row is an episode of one state");
    let folder = tempfile::tempdir().unwrap();
    let table = "frame_index,x,done\n7,1,0\n7,2,1\n8,3,0\n8,4,1\n";
    std::fs::write(folder.path().join("table.csv"), table).unwrap();
    for flags in ["--episode frame_index", "--episode frame_index --no-extras"] {
        let arguments = format!("data inspect table.csv --observations x {flags} --json");
        let inspected = isochrone_in(folder.path(), &arguments);
        assert_eq!(inspected.code, Some(0), "{flags}: {}", inspected.stderr);
        let report: serde_json::Value = serde_json::from_str(&inspected.stdout).unwrap();
        assert_eq!(report["episodes"], 2, "{report}");
    }
}

/// The hash and the numbers of a damaged file would be those of other data.
#[test]
fn a_damaged_file_is_not_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let source = workspace().join("examples/walks.csv");
    let convert = format!("data convert {} --observations x,y -o walks.arrow", source.display());
    assert_eq!(isochrone_in(folder.path(), &convert).code, Some(0));
    let path = folder.path().join("walks.arrow");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let outcome = isochrone_in(folder.path(), "data inspect walks.arrow --json");
    outcome.assert_refused("data inspect", "walks.arrow");
    assert_eq!(outcome.stdout, "");
}
