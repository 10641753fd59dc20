//! Files that are there whole or not at all.

use crate::DataError;
use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// A file under a temporary name in the folder of its destination, until it is complete.
pub(crate) struct AtomicFile {
    destination: PathBuf,
    file: NamedTempFile,
}

impl AtomicFile {
    pub fn create(destination: &Path) -> Result<Self, DataError> {
        let file = NamedTempFile::with_prefix_in(".isochrone-", folder_of(destination))
            .map_err(|error| DataError::write(destination, error.kind().into()))?;
        Ok(Self { destination: destination.into(), file })
    }

    /// The file under its temporary name.
    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// Makes it durable and visible: contents, then name, then the folder that holds the name.
    pub fn commit(self) -> Result<(), DataError> {
        let Self { destination, file } = self;
        let fail = |error| DataError::write(&destination, error);
        readable_by_others(file.as_file()).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(&destination).map_err(|error| fail(error.error))?;
        File::open(folder_of(&destination)).and_then(|folder| folder.sync_all()).map_err(fail)
    }
}

/// Where a file will be: temporary files lie beside it.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Temporary files are private; results are ordinary files.
#[cfg(unix)]
fn readable_by_others(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_others(_: &File) -> std::io::Result<()> {
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

/// A folder beside its destination, until it is complete.
pub(crate) fn temporary_folder(destination: &Path) -> Result<tempfile::TempDir, DataError> {
    tempfile::TempDir::with_prefix_in(".isochrone-", folder_of(destination))
        .map_err(|error| DataError::write(destination, error.kind().into()))
}

/// Puts a complete folder in its place, which must be free.
pub(crate) fn commit_folder(temporary: tempfile::TempDir, destination: &Path) -> Result<(), DataError> {
    let fail = |error| DataError::write(destination, error);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o755)).map_err(fail)?;
    }
    if destination.exists() {
        let error = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "it already exists");
        return Err(DataError::Io { path: destination.into(), source: error, hint: "choose a new name" });
    }
    File::open(temporary.path()).and_then(|folder| folder.sync_all()).map_err(fail)?;
    std::fs::rename(temporary.path(), destination).map_err(fail)?;
    // Nothing is left under the old name to be removed.
    let _ = temporary.keep();
    File::open(folder_of(destination)).and_then(|parent| parent.sync_all()).map_err(fail)
}
