//! Writing and removing the files of a run.

use crate::error::LearnError;
use isochrone_data::atomic::{self, AtomicFolder, UNFINISHED};
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Writes a file atomically.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), LearnError> {
    atomic::write(path, bytes).map_err(|error| LearnError::write(path, error))
}

/// Writes a folder of files atomically.
pub fn write_folder(path: &Path, files: &[(&str, &[u8])]) -> Result<(), LearnError> {
    let write = || {
        let folder = AtomicFolder::create(path)?;
        files.iter().try_for_each(|(name, bytes)| folder.write(name, bytes))?;
        folder.commit()
    };
    write().map_err(|error| LearnError::write(path, error))
}

/// Removes a folder with the files `names` atomically.
///
/// # Errors
/// If it contains anything else; then it is kept.
pub fn remove_folder(path: &Path, names: &[&str]) -> Result<(), LearnError> {
    check_contents(path, names)?;
    let name = path.file_name().expect("folders of a run have names").to_string_lossy();
    let doomed = path.with_file_name(format!("{UNFINISHED}removed-{name}"));
    // Otherwise, a power failure could leave the old name with some of the files.
    atomic::rename(path, &doomed).map_err(|error| LearnError::write(path, error))?;
    empty_and_remove(&doomed, names)
}

/// Checks that a folder contains only files of these names.
pub fn check_contents(folder: &Path, names: &[&str]) -> Result<(), LearnError> {
    let is_ours = |path: &PathBuf| {
        path.is_file() && path.file_name().is_some_and(|name| names.iter().any(|known| name == *known))
    };
    match entries(folder)?.into_iter().find(|path| !is_ours(path)) {
        Some(path) => Err(LearnError::NotOurs { path }),
        None => Ok(()),
    }
}

/// Removes what an interrupted write or removal left in a folder: files, and folders with the files
/// `names`.
pub fn sweep(folder: &Path, names: &[&str]) -> Result<(), LearnError> {
    for path in entries(folder)?.into_iter().filter(|path| atomic::is_unfinished(path)) {
        match fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
            true => empty_and_remove(&path, names)?,
            false => fs::remove_file(&path).map_err(|error| LearnError::write(&path, error))?,
        }
    }
    Ok(())
}

/// Removes a folder file by file and never recursively, so that foreign files are kept.
fn empty_and_remove(folder: &Path, names: &[&str]) -> Result<(), LearnError> {
    check_contents(folder, names)?;
    let removed = names.iter().try_for_each(|name| match fs::remove_file(folder.join(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    });
    removed.and_then(|()| atomic::remove_folder(folder)).map_err(|error| LearnError::write(folder, error))
}

/// Returns the sorted entries of a folder; none if it does not exist.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, LearnError> {
    let listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LearnError::read(folder, error)),
    };
    let paths = listing.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths = paths.map_err(|error| LearnError::read(folder, error))?;
    paths.sort();
    Ok(paths)
}
