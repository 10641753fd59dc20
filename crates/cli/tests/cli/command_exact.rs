//! Snapshots of `isochrone exact`.

use crate::run::{isochrone, isochrone_in, round_numbers};
use std::{
    io::Read,
    process::{Command, Stdio},
};

const DATA: &str = "crates/cli/tests/data";

#[test]
fn help() {
    insta::assert_snapshot!(isochrone("exact --help").transcript());
}

#[test]
fn version_and_top_level_help() {
    assert!(isochrone("--version").stdout.starts_with("isochrone "));
    insta::assert_snapshot!(isochrone("--help").transcript());
}

#[test]
fn map() {
    insta::assert_snapshot!(isochrone("exact examples/slippery-maze.txt --slip 0.2").transcript());
}

#[test]
fn map_as_csv_with_seconds() {
    let outcome =
        isochrone("exact examples/teleport-maze.txt --csv --step-seconds 0.5 --start 9,1 --goal 1,9");
    let head: String = outcome.stdout.lines().take(12).map(|line| format!("{line}\n")).collect();
    insta::assert_snapshot!(round_numbers(&format!("{head}----- stderr\n{}", outcome.stderr)));
}

#[test]
fn small_map_as_json() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tiny.txt"), "S.#.\n..>G\n").unwrap();
    insta::assert_snapshot!(isochrone_in(folder.path(), "exact tiny.txt --gamma 0.9 --json").transcript());
}

#[test]
fn mdp_with_names() {
    insta::assert_snapshot!(isochrone("exact examples/commute.json --goal work --start home").transcript());
}

#[test]
fn mdp_all_pairs() {
    insta::assert_snapshot!(
        isochrone(&format!("exact {DATA}/csr.json --all-pairs --gamma 0.9 --csv")).transcript()
    );
}

#[test]
fn mdp_from_scipy() {
    let chain = isochrone(&format!("exact {DATA}/chain.npz --goal 3 --gamma 0.9"));
    let walk = isochrone(&format!("exact {DATA}/walk.npz --goal 4 --gamma 0.9 --method policy-iteration"));
    insta::assert_snapshot!(format!("{}\n{}", chain.transcript(), walk.transcript()));
}

#[test]
fn event_log() {
    insta::assert_snapshot!(
        isochrone("exact examples/orders.csv --goal delivered --start back-ordered").transcript()
    );
}

#[test]
fn event_log_with_other_columns() {
    let folder = tempfile::tempdir().unwrap();
    let log = "who;what;when\n1;open;0\n1;close;3600\n2;open;10\n2;open;20\n2;close;7220\n";
    std::fs::write(folder.path().join("log.csv"), log).unwrap();
    let flags = "--case who --activity what --timestamp when --goal close --gamma 0.9 --json";
    insta::assert_snapshot!(isochrone_in(folder.path(), &format!("exact log.csv {flags}")).transcript());
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    use std::{
        io::Read as _,
        process::{Command, Stdio},
    };
    let mut child = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["exact", "examples/slippery-maze.txt", "--all-pairs", "--csv"])
        .current_dir(crate::run::workspace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 8];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn all_pairs_as_text_are_aligned() {
    let outcome = isochrone("exact examples/commute.json --all-pairs");
    let widths: Vec<usize> = outcome.stdout.lines().map(|line| line.chars().count()).collect();
    assert_eq!(widths.len(), 17, "a header and 4 x 4 pairs");
    assert!(widths.iter().all(|&width| width == widths[0]), "{}", outcome.stdout);
}

#[test]
fn a_missed_tolerance_is_always_reported() {
    // Rounding errors do not allow 1e-14 here, in any output style.
    for style in ["", "--json", "--csv"] {
        let outcome =
            isochrone(&format!("exact examples/slippery-maze.txt --slip 0.2 --tolerance 1e-14 {style}"));
        assert_eq!(outcome.code, Some(0));
        assert_eq!(
            outcome.stderr.matches("warning: the certified error is").count(),
            1,
            "{}",
            outcome.stderr
        );
    }
}

/// Rows are made one at a time: a table of half a million cells takes hardly more memory than its
/// distances.
#[cfg(target_os = "linux")]
#[test]
fn large_tables_are_written_row_by_row() {
    const SIDE: usize = 700;
    const MAX_KIB: u64 = 160 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let map = format!("G{}\n", ".".repeat(SIDE - 1)) + &format!("{}\n", ".".repeat(SIDE)).repeat(SIDE - 1);
    std::fs::write(folder.path().join("open.txt"), map).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["exact", "open.txt", "--json"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The last rows wait in the pipe, so that the process is still there.
    let mut read = 0;
    let mut stdout = child.stdout.take().unwrap();
    let mut part = vec![0; 1 << 16];
    while read < 10 << 20 {
        read += stdout.read(&mut part).unwrap();
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    drop(stdout);
    child.wait().unwrap();
    assert!(peak < MAX_KIB, "{peak} KiB");
}
