//! A dataset in the cache: a folder of links with the names that the files have in the store.

use super::{
    RemoteError,
    cache::{self, Cache},
    object::RemoteObject,
};
use crate::{atomic::AtomicFolder, content_hash::hexadecimal};
use sha2::{Digest as _, Sha256};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The digits of the name of a view.
const NAME_DIGITS: usize = 32;

/// Returns the folder with links to the complete files of a dataset.
pub(super) fn of(cache: &Cache, objects: &[RemoteObject]) -> Result<PathBuf, RemoteError> {
    let mut state = Sha256::new();
    for object in objects {
        state.update(&object.name);
        state.update([0]);
        state.update(object.key());
        state.update([0]);
    }
    let view = cache.views().join(&hexadecimal(state)[..NAME_DIGITS]);
    let fail = RemoteError::cache(&view);
    if view.exists() {
        if objects.iter().all(|object| view.join(&object.name).exists()) {
            return Ok(view);
        }
        fs::remove_dir_all(&view).map_err(fail)?;
    }
    let unfinished = AtomicFolder::create(&view).map_err(fail)?;
    for object in objects {
        let link = unfinished.path().join(&object.name);
        if let Some(folder) = link.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        let target = fs::canonicalize(cache.path(&object.key())).map_err(fail)?;
        create_link(&target, &link).map_err(fail)?;
    }
    match unfinished.commit() {
        // Another process made the same view meanwhile.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(view),
        Err(error) => Err(fail(error)),
        Ok(()) => Ok(view),
    }
}

/// Deletes the views of datasets of which files were deleted.
pub(super) fn remove_broken(cache: &Cache) {
    for view in fs::read_dir(cache.views()).into_iter().flatten().flatten() {
        let is_view = view.file_name().to_str().is_some_and(|name| cache::is_name(name, NAME_DIGITS));
        if is_view && is_broken(&view.path()) {
            // What remains is found by the next call.
            let _ = fs::remove_dir_all(view.path());
        }
    }
}

fn is_broken(folder: &Path) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| {
        let path = entry.path();
        !path.exists() || (path.is_dir() && is_broken(&path))
    })
}

#[cfg(unix)]
fn create_link(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Symbolic links need a privilege on other systems.
#[cfg(not(unix))]
fn create_link(target: &Path, link: &Path) -> std::io::Result<()> {
    fs::hard_link(target, link)
}
