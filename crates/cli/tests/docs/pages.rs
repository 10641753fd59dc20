//! The files of the repository that documentation tests look at.

use crate::run::workspace;
use std::{fs, path::Path, process::Command};

/// Returns every file of the repository with one of the extensions, by its path from the root:
/// what git tracks, and new files that it does not ignore.
pub fn files(extensions: &[&str]) -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let is_wanted = |path: &&str| {
        let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension)) && workspace().join(path).exists()
    };
    let mut files: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().filter(is_wanted).map(str::to_owned).collect();
    files.sort();
    files.dedup();
    files
}

/// Returns the text of a file, by its path from the root.
pub fn text(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Compares a generated text with a committed file, or writes the file if asked to.
pub fn compare(path: &str, generated: &str) {
    if std::env::var_os("ISOCHRONE_UPDATE_DOCS").is_some() {
        fs::create_dir_all(workspace().join(path).parent().unwrap()).unwrap();
        fs::write(workspace().join(path), generated).unwrap();
        return;
    }
    let committed = fs::read_to_string(workspace().join(path)).unwrap_or_default();
    let differs = committed.lines().zip(generated.lines()).position(|(old, new)| old != new);
    let first = differs.unwrap_or_else(|| committed.lines().count().min(generated.lines().count()));
    assert!(
        committed == generated,
        "{path}:{} is not what is generated; run `just docs-update` and look at the difference\n committed: {}\n generated: {}",
        first + 1,
        committed.lines().nth(first).unwrap_or(""),
        generated.lines().nth(first).unwrap_or("")
    );
}
