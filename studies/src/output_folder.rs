//! The output folder of a study, in which files are replaced.

use crate::error::StudyError;
use isochrone_data::atomic::is_unfinished;
use isochrone_learn::run::write_file;
use std::{fs, path::Path};

/// What a study of any kind has in its folder, from its first moment on.
const MARKS: [&str; 3] = ["lock", "rows", "runs"];

/// Folders into which a study writes.
const FOLDERS: [&str; 4] = ["datasets", "figures", "rows", "runs"];

/// Creates a folder for a study, or checks that it can be continued there.
///
/// # Errors
/// If the folder has files of something else, such as a report with the same name, or if one of its
/// folders is a link, which would redirect what is written.
pub fn claim(folder: &Path) -> Result<(), StudyError> {
    fs::create_dir_all(folder).map_err(StudyError::io(folder))?;
    let refuse = |path: &Path, problem: &str, hint| {
        Err(StudyError::Invalid { path: path.into(), problem: problem.to_owned(), hint })
    };
    if folder.join("config.toml").exists() {
        return refuse(folder, "the folder is that of a training run", "choose another folder");
    }
    for name in FOLDERS {
        let path = folder.join(name);
        if path.is_symlink() {
            return refuse(&path, "a study does not write through links", "replace it by a folder");
        }
    }
    // What a process that was killed while it wrote the mark has left is no file of others.
    let mut entries = fs::read_dir(folder).map_err(StudyError::io(folder))?;
    let is_empty = entries.all(|entry| entry.is_ok_and(|entry| is_unfinished(&entry.path())));
    let is_ours = MARKS.iter().any(|mark| folder.join(mark).exists()) || has_results(folder);
    match (is_empty, is_ours) {
        // Durable before anything else is written: a crash leaves no folder without it.
        (true, _) => Ok(write_file(&folder.join(MARKS[0]), b"")?),
        (_, true) => Ok(()),
        _ => refuse(folder, "the folder has files that are not of a study", "choose a new folder"),
    }
}

/// Whether a folder has the results of a study.
fn has_results(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join("results.json")).unwrap_or_default();
    let results: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    results.is_some_and(|results| ["version", "platform"].iter().all(|name| results.get(name).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_not_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("README.md"), "my thesis").unwrap();
        fs::write(folder.join("results.json"), "{\"mine\": 1}").unwrap();
        let error = claim(&folder).unwrap_err().to_string();
        assert!(error.contains("not of a study") && error.contains("hint:"), "{error}");
        let other = parent.path().join("other");
        claim(&other).unwrap();
        fs::write(other.join("README.md"), "ours").unwrap();
        claim(&other).unwrap();
    }

    /// A process was killed before its mark had its name.
    #[test]
    fn an_unfinished_mark_is_no_file_of_others() {
        let parent = tempfile::tempdir().unwrap();
        let unfinished = parent.path().join(".unfinished-lock-abc123");
        fs::write(&unfinished, "").unwrap();
        claim(parent.path()).unwrap();
        assert!(parent.path().join("lock").exists() && !unfinished.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new");
        claim(&folder).unwrap();
        std::os::unix::fs::symlink(parent.path(), folder.join("figures")).unwrap();
        assert!(claim(&folder).unwrap_err().to_string().contains("figures"));
    }
}
