//! Atomic writes of files and folders: under a temporary name, synced and renamed; then the parent
//! folder is synced.
//!
//! If a writer is interrupted, its destination is either unchanged or complete. Results have the
//! permissions of ordinary files: `0666` and `0777` without the bits of the process's umask.
//!
//! What is being written is locked, so that the next writer of the same destination can
//! distinguish what a killed process left, which it removes, from what another process is writing.

use crate::unfinished;
use std::{
    fs::File,
    io::{Error, ErrorKind, Result, Write},
    path::{Path, PathBuf},
};
use tempfile::{Builder, NamedTempFile, TempDir};

pub use crate::unfinished::UNFINISHED;
pub(crate) use crate::unfinished::folder_of;

/// How often a temporary name is chosen, if others remove what has just been created. Some network
/// file systems do not report whether it is still there.
const MAX_TRIES: u32 = 8;

/// Writes a file atomically. Removes what killed processes left of it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    unfinished::sweep(path);
    write_one_of_many(path, bytes)
}

/// Writes a file atomically, but does not look for what killed processes left, which would take
/// long in a folder of many small files.
pub(crate) fn write_one_of_many(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create_named(path)?;
    file.write_all(bytes)?;
    commit(file, path)
}

/// Creates a file under a temporary name in the folder of its destination. It is removed unless it
/// is committed. Removes what killed processes left of this destination.
pub(crate) fn create(destination: &Path) -> Result<NamedTempFile> {
    unfinished::sweep(destination);
    create_named(destination)
}

/// Like [`create`], but removes nothing.
pub(crate) fn create_named(destination: &Path) -> Result<NamedTempFile> {
    let prefix = unfinished::prefix(destination);
    let mut tries = 0;
    loop {
        let file = temporary(0o666).prefix(&prefix).tempfile_in(folder_of(destination));
        let file = file.map_err(without_path)?;
        tries += 1;
        if unfinished::lock(file.as_file(), file.path()) || tries == MAX_TRIES {
            return Ok(file);
        }
    }
}

/// Makes a file durable and visible: syncs its contents, renames it, and syncs its folder.
pub(crate) fn commit(file: NamedTempFile, destination: &Path) -> Result<()> {
    file.as_file().sync_all()?;
    file.persist(destination).map_err(|error| error.error)?;
    sync_folder(folder_of(destination))
}

/// A folder under a temporary name next to its destination. It is removed unless it is committed.
#[derive(Debug)]
pub struct AtomicFolder {
    destination: PathBuf,
    folder: TempDir,
    /// Shows other processes that the folder is in use.
    _lock: Option<File>,
}

impl AtomicFolder {
    /// Creates a folder under a temporary name. Removes what killed processes left of this
    /// destination.
    pub fn create(destination: &Path) -> Result<Self> {
        unfinished::sweep(destination);
        let prefix = unfinished::prefix(destination);
        let mut tries = 0;
        loop {
            let folder = temporary(0o777).prefix(&prefix).tempdir_in(folder_of(destination));
            let folder = folder.map_err(without_path)?;
            // Other systems cannot open a folder as a file.
            let lock = if cfg!(unix) { File::open(folder.path()).ok() } else { None };
            tries += 1;
            let is_ours = lock.as_ref().is_none_or(|lock| unfinished::lock(lock, folder.path()));
            if is_ours || tries == MAX_TRIES {
                return Ok(Self { destination: destination.into(), folder, _lock: lock });
            }
        }
    }

    /// Returns the path of the folder under its temporary name.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes and syncs a file in the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = File::create(self.path().join(name))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Makes the folder durable and visible. The destination must not exist; files that were not
    /// written with [`write`](Self::write) must already be synced.
    pub fn commit(self) -> Result<()> {
        if self.destination.symlink_metadata().is_ok() {
            return Err(Error::new(ErrorKind::AlreadyExists, "already exists"));
        }
        sync_folder(self.path())?;
        rename(self.path(), &self.destination)?;
        // Nothing is left to remove under the temporary name.
        let _ = self.folder.keep();
        Ok(())
    }
}

fn temporary<'a>(#[cfg_attr(not(unix), expect(unused_variables))] mode: u32) -> Builder<'a, 'a> {
    let mut builder = Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    builder
}

/// Removes the temporary path from an error, since it means nothing to users.
fn without_path(error: Error) -> Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), Error::from_raw_os_error)
}

/// Whether a path has the name of an unfinished write or removal.
pub fn is_unfinished(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED))
}

/// Renames a file or folder, and syncs the folder that contains it: what happens afterwards happens
/// to the new name, also if the power fails.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// Removes an empty folder, and syncs the folder that contained it.
pub fn remove_folder(path: &Path) -> Result<()> {
    std::fs::remove_dir(path)?;
    sync_folder(folder_of(path))
}

fn sync_folder(folder: &Path) -> Result<()> {
    // Other systems cannot open a folder as a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uncommitted_write_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        write(&path, b"old").unwrap();
        create(&path).unwrap().write_all(b"new").unwrap();
        AtomicFolder::create(&folder.path().join("y")).unwrap().write("z", b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_does_not_replace_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for expected in [None, Some(ErrorKind::AlreadyExists)] {
            let new = AtomicFolder::create(&path).unwrap();
            new.write("y", b"y").unwrap();
            assert_eq!(new.commit().err().map(|error| error.kind()), expected);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_ordinary_files() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
        write(&folder.path().join("ours"), b"").unwrap();
        std::fs::write(folder.path().join("ordinary"), b"").unwrap();
        AtomicFolder::create(&folder.path().join("our-folder")).unwrap().commit().unwrap();
        std::fs::create_dir(folder.path().join("ordinary-folder")).unwrap();
        assert_eq!((mode("ours"), mode("our-folder")), (mode("ordinary"), mode("ordinary-folder")));
    }
}
