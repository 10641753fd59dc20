//! Faults of the disk: what is left of a command that fails or is cut off at any point can be
//! continued, with the results of an undisturbed one.
//!
//! Every test run tries some points; `just faults` tries all of them.
#![cfg(target_os = "linux")]

mod disk;
mod journal;
mod scenarios;

use disk::{Disk, Loss};
use isochrone::rng;
use scenarios::{Scenario, lasting_contents, scenarios};
use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

/// Returns how many points of each command are tried; `None` for all of them.
fn limit() -> Option<usize> {
    match std::env::var("ISOCHRONE_FAULTS").as_deref() {
        Ok("all") => None,
        Ok(text) => Some(text.parse().unwrap()),
        Err(_) => Some(4),
    }
}

/// Returns `limit` of the points in a fixed random order.
fn some<T>(mut points: Vec<T>, seed: u64) -> Vec<T> {
    let Some(limit) = limit() else { return points };
    let mut random = rng::stream(seed, 0);
    let n = limit.min(points.len());
    for at in 0..n {
        let other = at + rng::below(&mut random, points.len() - at);
        points.swap(at, other);
    }
    points.truncate(n);
    points
}

/// The files of an undisturbed command, and what it did to the disk.
struct Undisturbed {
    /// The folder of all disks, at the same path, since runs record the paths of their data.
    place: tempfile::TempDir,
    before: Disk,
    journal: journal::Journal,
    expected: disk::Tree,
}

fn undisturbed(scenario: &Scenario) -> Undisturbed {
    let place = tempfile::tempdir().unwrap();
    let folder = empty_disk(&place);
    scenario.prepare(&folder);
    let before = Disk::read(&folder);
    let journal = journal::record(&folder, &scenario.arguments());
    assert_eq!(journal.code, Some(0), "{}: {}", scenario.name, journal.stderr);
    let seen = before.after_crash(&journal.changes, journal.changes.len(), Loss::Nothing);
    assert!(seen.tree() == Disk::read(&folder).tree(), "{}: the journal is complete", scenario.name);
    Undisturbed { before, journal, expected: lasting_contents(&folder), place }
}

/// Returns the folder of a disk without files.
fn empty_disk(place: &tempfile::TempDir) -> PathBuf {
    let folder = place.path().join("disk");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    folder
}

/// Continues a command in `folder`, and compares its files with those of an undisturbed one.
fn check_recovery(scenario: &Scenario, folder: &Path, expected: &disk::Tree) -> Result<(), String> {
    scenario.recover(folder)?;
    let found = lasting_contents(folder);
    let differing: Vec<_> =
        expected.keys().chain(found.keys()).filter(|path| expected.get(*path) != found.get(*path)).collect();
    match differing.is_empty() {
        true => Ok(()),
        false => Err(format!("these files differ: {differing:?}")),
    }
}

/// Fails if there was any problem, and lists all of them.
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// The power fails after any change. What was not synced is lost, kept, or kept in part.
#[test]
fn commands_recover_from_power_failures() {
    let mut problems = Vec::new();
    for scenario in scenarios() {
        let Undisturbed { place, before, journal, expected } = undisturbed(scenario);
        let cuts = journal.changes.len() + 1;
        let losses: Vec<Loss> = [Loss::Nothing, Loss::Everything]
            .into_iter()
            .chain((0..3).map(|seed| Loss::Random { seed }))
            .collect();
        let points: Vec<(usize, Loss)> =
            (0..cuts).flat_map(|cut| losses.iter().map(move |&loss| (cut, loss))).collect();
        let mut tried = HashSet::new();
        for (cut, loss) in some(points, 1) {
            let state = before.after_crash(&journal.changes, cut, loss);
            let mut hasher = DefaultHasher::new();
            state.tree().hash(&mut hasher);
            // Most losses at neighboring points leave the same files.
            if !tried.insert(hasher.finish()) {
                continue;
            }
            let folder = empty_disk(&place);
            state.write(&folder);
            if let Err(problem) = check_recovery(scenario, &folder, &expected) {
                problems.push(format!("{}, {loss:?} after change {cut}: {problem}", scenario.name));
            }
        }
        println!("{}: {} changes, {} different disks", scenario.name, journal.changes.len(), tried.len());
    }
    assert_none(&problems);
}

/// Each system call that opens, changes or syncs a file fails once. Of several processes, the
/// library that connects them makes such calls, too, and not always as many.
#[test]
fn commands_recover_from_failed_calls() {
    let mut problems = Vec::new();
    for scenario in scenarios().filter(|scenario| !scenario.is_launched()) {
        let (mut fired, mut survived) = (0, 0);
        let Undisturbed { place, before, journal, expected } = undisturbed(scenario);
        for call in some(journal.calls, 2) {
            let folder = empty_disk(&place);
            before.write(&folder);
            let full = ["write", "pwrite64", "openat", "mkdir", "rename", "ftruncate", "link"];
            let error = if full.contains(&call.name.as_str()) { "ENOSPC" } else { "EIO" };
            let output = journal::inject(&folder, &scenario.arguments(), &call, &format!("error={error}"));
            fired += 1;
            let stderr = String::from_utf8_lossy(&output.stderr);
            let point = format!("{error} in {} number {}", call.name, call.number);
            if output.status.success() {
                survived += 1;
            } else if !scenario.has_reported(&output, &call) {
                problems.push(format!("{}, {point}: {}: {stderr}", scenario.name, output.status));
            }
            if let Err(problem) = check_recovery(scenario, &folder, &expected) {
                problems.push(format!("{}, {point}: {problem}", scenario.name));
            }
        }
        println!("{}: {fired} calls failed, {survived} times it went on", scenario.name);
    }
    assert_none(&problems);
}

/// The process is killed at each system call that opens, changes or syncs a file. Only processes
/// that the signal ended are counted.
#[test]
fn commands_recover_from_kills() {
    let mut problems = Vec::new();
    for scenario in scenarios() {
        let (mut killed, mut half_written) = (0, 0);
        let Undisturbed { place, before, journal, expected } = undisturbed(scenario);
        for call in some(journal.calls, 3) {
            let folder = empty_disk(&place);
            before.write(&folder);
            let status = journal::inject(&folder, &scenario.arguments(), &call, "signal=SIGKILL").status;
            if !journal::is_killed(status) {
                problems.push(format!("{}, {call:?}: not ended by the signal: {status}", scenario.name));
                continue;
            }
            killed += 1;
            let is_unfinished = |path: &PathBuf| path.to_string_lossy().contains(".unfinished-");
            half_written += usize::from(Disk::read(&folder).tree().keys().any(is_unfinished));
            if let Err(problem) = check_recovery(scenario, &folder, &expected) {
                problems.push(format!("{}, killed in {call:?}: {problem}", scenario.name));
            }
        }
        println!("{}: {killed} killed, {half_written} with half-written files", scenario.name);
    }
    assert_none(&problems);
}

/// Locks are system calls, too: some network file systems have none.
#[test]
fn a_file_system_without_locks_is_reported() {
    let scenario = scenarios::scenario("train");
    let place = tempfile::tempdir().unwrap();
    let folder = empty_disk(&place);
    scenario.prepare(&folder);
    let call = journal::Call { name: "flock".to_owned(), number: 1 };
    for error in ["ENOLCK", "ENOSYS", "EOPNOTSUPP"] {
        let output = journal::inject(&folder, &scenario.arguments(), &call, &format!("error={error}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(scenario.has_reported(&output, &call), "{error}: {stderr}");
        assert!(stderr.contains("its file system has no locks"), "{error}: {stderr}");
    }
}
