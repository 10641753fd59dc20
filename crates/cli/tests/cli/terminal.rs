//! Names from files of other users do not control the terminal, and a terminal that is gone does
//! not matter.

use crate::run::{isochrone_in, workspace};
use std::{fs, path::Path};

/// Control codes, an escape sequence that clears the screen, one byte that starts a sequence, and a
/// change of the direction of text.
const EVIL: &str = "\u{1b}[2J\u{9b}31m\r\u{8}\u{202e}";

fn write_files(folder: &Path) {
    let long = "x".repeat(70_000);
    let states = serde_json::json!({
        "states": [format!("{EVIL}home"), long, "work"],
        "transitions": [[0, 0, 1, 1.0], [1, 0, 2, 1.0], [2, 0, 2, 1.0]],
    });
    fs::write(folder.join("states.json"), states.to_string()).unwrap();
    let log =
        format!("case,activity,timestamp\n1,{EVIL}a,1\n1,b,2\n1,{long},3\n2,{EVIL}a,1\n2,b,4\n2,{long},7\n");
    fs::write(folder.join("log.csv"), log.replace('\r', "")).unwrap();
    let table = format!("episode,{EVIL}x,{long}\n0,1,2\n0,2,3\n0,3,4\n").replace('\r', "");
    fs::write(folder.join("table.csv"), table).unwrap();
    fs::write(folder.join("map.txt"), "S..\n.#G\n").unwrap();
}

fn assert_plain(text: &str, what: &str) {
    let is_control = |c: &char| (c.is_control() && *c != '\n' && *c != '\t') || *c == '\u{202e}';
    let found = text.chars().find(is_control);
    assert_eq!(found, None, "{what}: {}", text.chars().take(2000).collect::<String>().escape_debug());
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    for (arguments, code) in [
        ("exact states.json --goal work", 0),
        ("exact states.json --goal work --json", 0),
        ("exact states.json --goal work --csv", 0),
        ("exact states.json --goal nowhere", 2),
        ("exact log.csv --goal b --plot log.svg", 0),
        ("exact log.csv --goal b --plot log.png", 0),
        ("exact log.csv --goal nowhere", 2),
        ("data inspect table.csv", 2),
        ("data inspect table.csv --observations x,y", 2),
        ("data inspect table.csv --observations episode --episode episode", 2),
        ("data validate table.csv --observations nothing", 2),
        ("exact \u{1b}[31m.txt", 2),
        ("exact map.txt --\u{9b}", 2),
    ] {
        let outcome = isochrone_in(folder.path(), arguments);
        assert_eq!(outcome.code, Some(code), "{arguments}: {}", outcome.stderr);
        assert_plain(&outcome.stdout, arguments);
        assert_plain(&outcome.stderr, arguments);
    }
    assert_plain(&fs::read_to_string(folder.path().join("log.svg")).unwrap(), "log.svg");
}

/// JSON has the same names as the file, whatever they are.
#[test]
fn escaped_json_has_the_same_names() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let outcome = isochrone_in(folder.path(), "exact states.json --goal work --json");
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["rows"][0]["state"], format!("{EVIL}home"));
}

/// A full disk behind stderr changes nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_full_stderr_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    fs::copy(workspace().join("examples/walks.csv"), folder.path().join("walks.csv")).unwrap();
    for (arguments, code) in [
        ("exact map.txt", 0),
        ("exact map.txt --plot map.svg", 0),
        ("exact states.json --goal work", 0),
        ("exact log.csv --goal b", 0),
        ("data inspect walks.csv --observations x,y", 0),
        ("data convert walks.csv --observations x,y -o walks.npz", 0),
        ("exact missing.txt", 2),
        ("exact map.txt --unknown", 2),
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(arguments.split_whitespace()).current_dir(folder.path()).stderr(full);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}");
    }
}

/// A full disk behind the standard output is an error that names it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    for arguments in ["exact map.txt", "exact map.txt --json", "envs list --csv", "--help", "--version"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.args(arguments.split_whitespace()).current_dir(folder.path()).stdout(full);
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {stderr}");
        assert!(stderr.contains("standard output") && stderr.contains("hint:"), "{arguments}: {stderr}");
    }
}
