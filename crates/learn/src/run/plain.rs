//! A run's folder holds plain files and folders.
//!
//! Whoever goes on with a run that somebody else made writes into its folder. A symbolic link there would lead those writes, and
//! removals, to files outside of it.

use super::files;
use crate::error::LearnError;
use std::{
    fs::{self, File, OpenOptions},
    io::ErrorKind,
    path::Path,
};

/// The file in which those who ask a run keep the graph of its data. It can be removed, and is built again.
pub const REFINED_FILE: &str = "refined.npz";

/// What a run has in its folder, besides event files and what is being written.
const NAMES: [&str; 9] = [
    "config.toml",
    "manifest.json",
    "status.json",
    "metrics.jsonl",
    "sessions.jsonl",
    "lock",
    "checkpoints",
    REFINED_FILE,
    "distilled.safetensors",
];

/// Refuses a folder in which something of a run is a link, a pipe or a device.
pub fn check(folder: &Path) -> Result<(), LearnError> {
    for path in files::entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if NAMES.contains(&&*name) || name.starts_with("events.out.tfevents.") || files::is_unfinished(&path)
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

fn check_one(path: &Path) -> Result<(), LearnError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => Ok(()),
        Ok(found) => Err(LearnError::NotPlain { path: path.into(), is_link: found.is_symlink() }),
        // A process that trains removes what it no longer needs.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(LearnError::read(path, error)),
    }
}

/// Opens a file of a run to write at its end, and makes it if it is not there; what is there stays. A link is refused, wherever
/// it leads.
pub fn append(path: &Path) -> Result<File, LearnError> {
    let failed = |error| LearnError::write(path, error);
    // The system makes no file where there is a link, not even one that leads nowhere.
    match OpenOptions::new().append(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made.map_err(failed),
    }
    check_one(path)?;
    let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
    let (opened, named) = (file.metadata().map_err(failed)?, fs::symlink_metadata(path).map_err(failed)?);
    // Somebody may have put a link there since it was looked at.
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
