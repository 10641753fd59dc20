//! A run's folder contains only regular files and folders.
//!
//! Resuming a run of another user writes into its folder. A symbolic link there would redirect
//! writes and removals to files outside of it.

use super::files;
use crate::error::LearnError;
use isochrone_data::atomic::is_unfinished;
use std::{
    fs::{self, File, OpenOptions},
    io::ErrorKind,
    path::Path,
};

/// The file in which queries cache the graph of a run's data. It is rebuilt if it is missing.
pub const REFINED_FILE: &str = "refined.npz";

/// The folder in which queries cache the index of a run's data. It is rebuilt if it is missing.
pub const NEAREST_FOLDER: &str = "nearest";

/// The entries of a run's folder that are written before or with `config.toml`.
const EARLY: [&str; 4] = ["config.toml", "manifest.json", "lock", "checkpoints"];

/// Those that are written later, besides event files and unfinished writes.
const LATER: [&str; 8] = [
    "status.json",
    "metrics.jsonl",
    "sessions.jsonl",
    REFINED_FILE,
    NEAREST_FOLDER,
    "distilled.safetensors",
    "distilled-policy.safetensors",
    "distilled-waypoints.safetensors",
];

/// Checks that no entry of a run's folder is a link, a pipe or a device.
pub fn check(folder: &Path) -> Result<(), LearnError> {
    for path in files::entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if EARLY.iter().chain(&LATER).any(|known| *known == name)
            || name.starts_with("events.out.tfevents.")
            || is_unfinished(&path)
        {
            check_one(&path)?;
        }
    }
    for path in files::entries(&folder.join("checkpoints"))? {
        check_one(&path)?;
        if path.is_dir() {
            files::entries(&path)?.iter().try_for_each(|part| check_one(part))?;
        }
    }
    Ok(())
}

/// Checks that a folder without a run has no file that a new run would replace or continue.
pub fn check_free(folder: &Path) -> Result<(), LearnError> {
    match LATER.iter().map(|name| folder.join(name)).find(|path| fs::symlink_metadata(path).is_ok()) {
        Some(path) => Err(not_of_a_run(&path)),
        None => Ok(()),
    }
}

/// Returns the error of a file that is not of a run, at a place where a run has one.
pub fn not_of_a_run(path: &Path) -> LearnError {
    let hint = "choose a new folder for the run, or move the file";
    LearnError::malformed(path, "it is not of a run, and a run here would replace it", hint)
}

fn check_one(path: &Path) -> Result<(), LearnError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => Ok(()),
        Ok(found) => Err(LearnError::NotPlain { path: path.into(), is_link: found.is_symlink() }),
        // A training process may have removed it in the meantime.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(LearnError::read(path, error)),
    }
}

/// Opens a file of a run for appending, and creates it if it is missing.
///
/// # Errors
/// If it is a link, regardless of its target.
pub fn append(path: &Path) -> Result<File, LearnError> {
    let failed = |error| LearnError::write(path, error);
    // With `create_new`, the system creates no file at a link, not even at a dangling one.
    match OpenOptions::new().append(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => return created.map_err(failed),
    }
    check_one(path)?;
    let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
    let (opened, named) = (file.metadata().map_err(failed)?, fs::symlink_metadata(path).map_err(failed)?);
    // The file may have been replaced by a link since it was checked.
    match is_same(&opened, &named) {
        true => Ok(file),
        false => Err(LearnError::NotPlain { path: path.into(), is_link: true }),
    }
}

#[cfg(unix)]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, named: &fs::Metadata) -> bool {
    !named.is_symlink()
}
