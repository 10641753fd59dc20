//! Shell completions, manual pages, colors.

use crate::run::isochrone_in;
use std::{collections::BTreeSet, path::Path, process::Command};

#[test]
fn completions_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = isochrone_in(folder.path(), &format!("completions {shell}"));
        assert_eq!(script.code, Some(0), "{shell}: {}", script.stderr);
        for word in ["train", "validate", "calibration", "observations", "threads"] {
            assert!(script.stdout.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn bash_accepts_its_completions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("isochrone.bash");
    std::fs::write(&path, isochrone_in(folder.path(), "completions bash").stdout).unwrap();
    let command = "source isochrone.bash; COMP_WORDS=(isochrone tr); COMP_CWORD=1; _isochrone isochrone tr isochrone; echo ${COMPREPLY[@]}";
    let output = Command::new("bash").args(["-c", command]).current_dir(folder.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "train");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = isochrone_in(folder.path(), "man -o pages/man1");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let pages: BTreeSet<&str> = outcome.stdout.lines().collect();
    for name in ["isochrone", "isochrone-train", "isochrone-data-inspect", "isochrone-plot-map"] {
        let path = format!("pages/man1/{name}.1");
        assert!(pages.contains(path.as_str()), "no {path} in {pages:?}");
        let page = std::fs::read_to_string(folder.path().join(&path)).unwrap();
        assert!(page.contains(".SH OPTIONS") && page.contains(".SH NAME"), "{path}: {page}");
        let command = name.replace('-', " ");
        assert!(page.contains(&format!("\\fB{command}\\fR")), "{path} has no synopsis of {command}: {page}");
        assert!(page.contains("threads") && page.contains(".SH EXAMPLES"), "{path}: {page}");
    }
    assert!(!outcome.stdout.contains("-help.1"), "{}", outcome.stdout);
}

/// Returns what is printed with the given value of `NO_COLOR`.
fn printed(folder: &Path, arguments: &[&str], no_color: Option<&str>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.args(arguments).current_dir(folder).env_remove("NO_COLOR");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

#[test]
fn colors_follow_the_flag() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--help"][..], &["exact", "nowhere.txt"], &["trai"]] {
        let with = |color: &[&str], no_color| {
            let arguments: Vec<&str> = color.iter().chain(arguments).copied().collect();
            printed(folder.path(), &arguments, no_color).contains('\x1b')
        };
        assert!(with(&["--color", "always"], None), "{arguments:?}");
        assert!(with(&["--color=always"], Some("1")), "the flag is stronger than NO_COLOR: {arguments:?}");
        assert!(!with(&["--color", "never"], None), "{arguments:?}");
        assert!(!with(&[], None), "a pipe is not colored: {arguments:?}");
    }
    let wrong = isochrone_in(folder.path(), "--color purple exact x.txt");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("purple") && wrong.stderr.contains("hint:"), "{}", wrong.stderr);
}
