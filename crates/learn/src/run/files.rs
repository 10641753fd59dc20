//! Files that are there whole or not at all.

use crate::error::LearnError;
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

/// Names of what is being written or removed begin so; whatever carries such a name is not part of a run.
const UNFINISHED: &str = ".unfinished-";

/// Writes a file: under another name, synced, renamed, and the folder synced.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), LearnError> {
    let name = path.file_name().expect("our files have names").to_string_lossy();
    let partial = path.with_file_name(format!("{UNFINISHED}{name}"));
    let written = write_synced(&partial, bytes)
        .and_then(|()| fs::rename(&partial, path))
        .and_then(|()| sync_folder(parent(path)));
    written.map_err(|error| LearnError::write(path, error))
}

/// Writes a folder of files: under another name, all synced, renamed, and the folder above synced.
pub fn write_folder(path: &Path, files: &[(&str, &[u8])]) -> Result<(), LearnError> {
    let name = path.file_name().expect("our folders have names").to_string_lossy();
    let partial = path.with_file_name(format!("{UNFINISHED}{name}"));
    let write = || {
        if partial.exists() {
            fs::remove_dir_all(&partial)?;
        }
        fs::create_dir(&partial)?;
        for (name, bytes) in files {
            write_synced(&partial.join(name), bytes)?;
        }
        sync_folder(&partial)?;
        fs::rename(&partial, path)?;
        sync_folder(parent(path))
    };
    write().map_err(|error| LearnError::write(path, error))
}

/// Removes a folder so that it is never seen half empty under its name.
pub fn remove_folder(path: &Path) -> Result<(), LearnError> {
    let name = path.file_name().expect("our folders have names").to_string_lossy();
    let doomed = path.with_file_name(format!("{UNFINISHED}removed-{name}"));
    let remove = || {
        fs::rename(path, &doomed)?;
        fs::remove_dir_all(&doomed)
    };
    remove().map_err(|error| LearnError::write(path, error))
}

/// Removes what an interrupted write or removal left in a folder.
pub fn sweep(folder: &Path) -> Result<(), LearnError> {
    for path in entries(folder)? {
        let is_left = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED));
        if is_left {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|error| LearnError::write(&path, error))?;
        }
    }
    Ok(())
}

/// What is in a folder, sorted; nothing if there is no such folder.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, LearnError> {
    let listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LearnError::read(folder, error)),
    };
    let paths = listing.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths = paths.map_err(|error| LearnError::read(folder, error))?;
    paths.sort();
    Ok(paths)
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn sync_folder(folder: &Path) -> std::io::Result<()> {
    // Elsewhere a folder cannot be opened as a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
