//! Files of one process, in memory where possible.

use std::path::{Path, PathBuf};

/// The variable that names the folder of files; by default, a folder in memory.
const FOLDER: &str = "ISOCHRONE_FUZZ_SCRATCH";

/// A folder whose files are written again for every input.
pub struct Scratch {
    folder: PathBuf,
}

impl Default for Scratch {
    /// Creates an empty folder for this process.
    fn default() -> Self {
        Self::named("files")
    }
}

impl Scratch {
    /// Creates an empty folder for this process and purpose.
    pub fn named(purpose: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let shared = std::env::var_os(FOLDER).map_or_else(
            || if memory.is_dir() { memory.into() } else { std::env::temp_dir() },
            PathBuf::from,
        );
        let folder = shared.join(format!("isochrone-fuzz-{}/{purpose}", std::process::id()));
        // Of an earlier process with the same number.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        if std::fs::write(&path, bytes).is_err() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
        }
        path
    }

    /// Writes a file whose contents are mapped while it is read: a new file, since a mapped one
    /// must not shrink.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let _ = std::fs::remove_file(self.folder.join(name));
        self.write(name, bytes)
    }
}

/// Returns a fixture of the tests of `isochrone-data`.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/data/tests/fixtures").join(name);
    std::fs::read(path).unwrap()
}
