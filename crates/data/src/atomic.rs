//! Files and folders that are written atomically: under a temporary name, synced, renamed, and the folder around them synced.
//!
//! Whatever interrupts a writer, its destination is what it was before or complete. Results have the permissions of ordinary files:
//! `0666` and `0777` without the bits of the process's umask.

use std::{
    fs::File,
    io::{Error, ErrorKind, Result, Write},
    path::{Path, PathBuf},
};
use tempfile::{Builder, NamedTempFile, TempDir};

/// Temporary names begin so. What a killed process left under such a name belongs to nobody.
pub const UNFINISHED: &str = ".unfinished-";

/// Writes a file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    commit(file, path)
}

/// Begins a file under a temporary name in the folder of its destination. It is removed unless it is committed.
pub(crate) fn create(destination: &Path) -> Result<NamedTempFile> {
    temporary(0o666).tempfile_in(folder_of(destination)).map_err(without_path)
}

/// Makes a file durable and visible: contents, then name, then the folder that holds the name.
pub(crate) fn commit(file: NamedTempFile, destination: &Path) -> Result<()> {
    file.as_file().sync_all()?;
    file.persist(destination).map_err(|error| error.error)?;
    sync_folder(folder_of(destination))
}

/// A folder under a temporary name beside its destination. It is removed unless it is committed.
#[derive(Debug)]
pub struct AtomicFolder {
    destination: PathBuf,
    folder: TempDir,
}

impl AtomicFolder {
    /// Begins a folder.
    pub fn create(destination: &Path) -> Result<Self> {
        let folder = temporary(0o777).tempdir_in(folder_of(destination)).map_err(without_path)?;
        Ok(Self { destination: destination.into(), folder })
    }

    /// The folder under its temporary name.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into it, durably.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = File::create(self.path().join(name))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Makes it durable and visible. The destination must be free; files that were not written by [`write`](Self::write) must be synced.
    pub fn commit(self) -> Result<()> {
        if self.destination.symlink_metadata().is_ok() {
            return Err(Error::new(ErrorKind::AlreadyExists, "it already exists"));
        }
        sync_folder(self.path())?;
        std::fs::rename(self.path(), &self.destination)?;
        // Nothing is left under the old name to be removed.
        let _ = self.folder.keep();
        sync_folder(folder_of(&self.destination))
    }
}

/// The folder that a file is or will be in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn temporary(#[cfg_attr(not(unix), expect(unused_variables))] mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    builder
}

/// An error about a temporary name says nothing to a user.
fn without_path(error: Error) -> Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), Error::from_raw_os_error)
}

fn sync_folder(folder: &Path) -> Result<()> {
    // Elsewhere a folder cannot be opened as a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uncommitted_write_leaves_what_was_there() {
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
