//! What is written under a temporary name: whose it is, and whether its writer still lives.
//!
//! A writer holds a lock on its file or folder, which the system releases when the process ends,
//! however it ends. Systems without such locks keep what is left.

use std::{fs::File, path::Path};

/// The prefix of temporary names. Whatever a killed process left under such a name can be deleted.
pub const UNFINISHED: &str = ".unfinished-";

/// The maximum length of the part of a temporary name that names the destination, such that the
/// name is valid wherever the destination's is.
const MAX_NAME_BYTES: usize = 180;
/// The number of letters and digits at the end of a temporary name.
const RANDOM_LETTERS: usize = 6;

/// Returns the folder that contains a path.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns how the temporary names of a destination start.
pub(crate) fn prefix(destination: &Path) -> String {
    let name = destination.file_name().unwrap_or_default().to_string_lossy();
    format!("{UNFINISHED}{}-", &name[..name.floor_char_boundary(MAX_NAME_BYTES)])
}

/// Returns whether a name is a temporary one with a prefix.
pub(crate) fn has_prefix(name: &str, prefix: &str) -> bool {
    let is_random = |end: &str| end.len() == RANDOM_LETTERS && end.bytes().all(|b| b.is_ascii_alphanumeric());
    name.strip_prefix(prefix).is_some_and(is_random)
}

/// Locks what is being written. Returns whether it is still at its path: another process may have
/// removed it before it was locked.
pub(crate) fn lock(file: &File, path: &Path) -> bool {
    match cfg!(unix) && file.lock().is_ok() {
        true => is_at(file, path),
        // No process removes what cannot be locked.
        false => true,
    }
}

/// Removes what killed processes left of a destination. Nothing depends on that, so errors are
/// ignored.
pub(crate) fn sweep(destination: &Path) {
    let prefix = prefix(destination);
    let entries = std::fs::read_dir(folder_of(destination)).into_iter().flatten().flatten();
    for entry in entries {
        if has_prefix(&entry.file_name().to_string_lossy(), &prefix) {
            remove_if_abandoned(&entry.path());
        }
    }
}

/// Removes a file or folder with a temporary name, unless a process is writing it.
pub(crate) fn remove_if_abandoned(path: &Path) {
    // Neither a link nor a pipe is something that we write.
    let Ok(kind) = path.symlink_metadata().map(|data| data.file_type()) else { return };
    if !cfg!(unix) || !(kind.is_file() || kind.is_dir()) {
        return;
    }
    let Ok(file) = File::open(path) else { return };
    // While the lock is held, a writer that has just created it waits, and then finds it gone.
    if file.try_lock().is_err() || !is_at(&file, path) {
        return;
    }
    let _ = if kind.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |data: std::fs::Metadata| (data.dev(), data.ino());
    let (open, found) = (file.metadata().map(place), path.symlink_metadata().map(place));
    open.is_ok_and(|open| found.is_ok_and(|found| open == found))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::atomic::{self, AtomicFolder};
    use std::{collections::BTreeSet, fs, io::Write as _};

    fn names(folder: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_next_write_removes_what_a_killed_process_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.arrow");
        fs::write(folder.path().join(".unfinished-x.arrow-Ab3dE6"), b"half").unwrap();
        fs::create_dir(folder.path().join(".unfinished-x.arrow-Ab3dE7")).unwrap();
        fs::write(folder.path().join(".unfinished-x.arrow-Ab3dE7/part"), b"half").unwrap();
        let others = [
            // Of another destination, of no destination, and of another program.
            ".unfinished-x.arrow-2-Ab3dE6",
            ".unfinished-y.arrow-Ab3dE6",
            ".unfinished-Ab3dE6",
            ".unfinished-x.arrow-notes.txt",
            "x.arrow",
        ];
        others.iter().for_each(|name| fs::write(folder.path().join(name), b"other").unwrap());
        atomic::commit(atomic::create(&path).unwrap(), &path).unwrap();
        assert_eq!(names(folder.path()), set(&others));
    }

    #[test]
    fn what_a_live_process_writes_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut first = atomic::create(&path).unwrap();
        let first_folder = AtomicFolder::create(&path).unwrap();
        drop((atomic::create(&path).unwrap(), AtomicFolder::create(&path).unwrap()));
        assert!(first.path().is_file() && first_folder.path().is_dir());
        drop(first_folder);
        first.write_all(b"first").unwrap();
        atomic::commit(first, &path).unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"first".to_vec(), set(&["x"])));
    }

    #[test]
    fn links_are_kept_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, own) = (folder.path().join("x"), folder.path().join("own"));
        fs::create_dir(&own).unwrap();
        fs::write(own.join("file"), b"own").unwrap();
        std::os::unix::fs::symlink(&own, folder.path().join(".unfinished-x-Ab3dE6")).unwrap();
        atomic::commit(atomic::create(&path).unwrap(), &path).unwrap();
        assert_eq!(names(folder.path()), set(&[".unfinished-x-Ab3dE6", "own", "x"]));
        assert_eq!(names(&own), set(&["file"]));
    }

    #[test]
    fn long_names_have_temporary_ones() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x".repeat(255), "é".repeat(127)] {
            atomic::write(&folder.path().join(&name), b"x").unwrap();
            assert!(folder.path().join(name).is_file());
        }
    }
}
