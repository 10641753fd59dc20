//! The output folder of a study, in which files are replaced.

use crate::{
    error::StudyError,
    files::{MAX_RESULTS_BYTES, read_text},
};
use isochrone_data::atomic::is_unfinished;
use isochrone_envs::DatasetId;
use isochrone_learn::run::write_file;
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// What a study of any kind has in its folder, from its first moment on: an empty file.
const MARK: &str = "lock";

/// Folders into which a study writes.
const FOLDERS: [&str; 4] = ["datasets", "figures", "rows", "runs"];
/// Files that a study writes.
const FILES: [&str; 5] = [MARK, "README.md", "report.html", "report.md", "results.json"];
/// The folders of a run are the deepest ones: `runs/DATASET/METHOD-SEED/checkpoints/STEP`.
const MAX_DEPTH: usize = 8;

/// Creates a folder for a study, or checks that it can be continued there.
///
/// # Errors
/// If the folder has files of something else, such as a report with the same name, or if anything
/// that a study writes is a link, which would redirect what is written, or a pipe.
pub fn claim(folder: &Path) -> Result<(), StudyError> {
    fs::create_dir_all(folder).map_err(StudyError::io(folder))?;
    if folder.join("config.toml").exists() {
        return refuse(folder, "the folder is that of a training run", "choose another folder");
    }
    for name in FOLDERS.iter().chain(&FILES) {
        check_plain(&folder.join(name), 0)?;
    }
    // What a process that was killed while it wrote the mark has left is no file of others.
    let mut entries = fs::read_dir(folder).map_err(StudyError::io(folder))?;
    let is_empty = entries.all(|entry| entry.is_ok_and(|entry| is_unfinished(&entry.path())));
    let is_ours = folder.join(MARK).metadata().is_ok_and(|mark| mark.is_file() && mark.len() == 0)
        || has_results(folder)
        || has_parts(folder);
    match (is_empty || has_only_datasets(folder), is_ours) {
        // Durable before anything else is written: a crash leaves no folder without it.
        (true, _) => Ok(write_file(&folder.join(MARK), b"")?),
        (_, true) => Ok(()),
        _ => refuse(folder, "the folder has files that are not of a study", "choose a new folder"),
    }
}

fn refuse(path: &Path, problem: &str, hint: &'static str) -> Result<(), StudyError> {
    Err(StudyError::Invalid { path: path.into(), problem: problem.to_owned(), hint })
}

/// Checks that nothing at a path or below it is a link or a special file.
fn check_plain(path: &Path, depth: usize) -> Result<(), StudyError> {
    let kind = match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.map_err(StudyError::io(path))?.file_type(),
    };
    if kind.is_symlink() {
        return refuse(path, "a study does not write through links", "replace it by what it leads to");
    }
    if !kind.is_dir() && !kind.is_file() {
        return refuse(path, "it is neither a file nor a folder", "remove it");
    }
    if kind.is_dir() && depth < MAX_DEPTH {
        for entry in fs::read_dir(path).map_err(StudyError::io(path))? {
            check_plain(&entry.map_err(StudyError::io(path))?.path(), depth + 1)?;
        }
    }
    Ok(())
}

/// Whether a folder has the results of a study.
fn has_results(folder: &Path) -> bool {
    let text = read_text(&folder.join("results.json"), MAX_RESULTS_BYTES).unwrap_or_default();
    let results: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    results.is_some_and(|results| ["version", "platform"].iter().all(|name| results.get(name).is_some()))
}

/// Whether a folder has runs or rows of a study, which may have lost its mark. Other folders have
/// `runs`, too: `isochrone train` puts runs there by default.
fn has_parts(folder: &Path) -> bool {
    let names = |part: &str| {
        let entries = fs::read_dir(folder.join(part)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let rows = names("rows");
    names("runs").iter().any(|name| DatasetId::from_name(name).is_some())
        || !rows.is_empty() && rows.iter().all(|name| name.ends_with(".json"))
}

/// Whether a folder has only datasets of studies, which were put there to be shared.
fn has_only_datasets(folder: &Path) -> bool {
    let paths = |folder: &Path| -> Vec<_> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let datasets = folder.join("datasets");
    let is_dataset = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".arrow"));
        name.is_some_and(|name| DatasetId::from_name(name).is_some())
    };
    paths(folder) == [datasets.clone()] && paths(&datasets).iter().all(is_dataset)
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
        // A project with runs of `isochrone train`, and a lock file of another program.
        fs::create_dir_all(folder.join("runs/maze/checkpoints")).unwrap();
        fs::write(folder.join("lock"), "17").unwrap();
        assert!(claim(&folder).unwrap_err().to_string().contains("not of a study"));
        let other = parent.path().join("other");
        claim(&other).unwrap();
        fs::write(other.join("README.md"), "ours").unwrap();
        claim(&other).unwrap();
    }

    #[test]
    fn a_study_starts_beside_datasets_that_it_shares() {
        let parent = tempfile::tempdir().unwrap();
        let datasets = parent.path().join("datasets");
        fs::create_dir(&datasets).unwrap();
        fs::write(datasets.join("mine.csv"), "1").unwrap();
        assert!(claim(parent.path()).unwrap_err().to_string().contains("not of a study"));
        fs::rename(datasets.join("mine.csv"), datasets.join("nav2d.arrow")).unwrap();
        claim(parent.path()).unwrap();
        assert!(parent.path().join(MARK).exists());
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
        let outside = parent.path().join("outside");
        fs::create_dir(&outside).unwrap();
        for part in ["figures", "runs", "runs/nav2d", "runs/nav2d/gcbc-0", "rows/a.json", "results.json"] {
            let link = folder.join(part);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&outside, &link).unwrap();
            let error = claim(&folder).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("links"), "{error}");
            fs::remove_file(link).unwrap();
        }
        // A pipe would be waited for.
        let pipe = folder.join("results.json");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(claim(&folder).unwrap_err().to_string().contains("neither a file nor a folder"));
    }
}
