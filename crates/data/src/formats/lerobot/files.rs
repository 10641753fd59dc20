//! The files of a dataset.

use super::super::minari::read_small;
use crate::DataError;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(super) const HINT: &str =
    "a LeRobot dataset is a folder with meta/info.json and data/chunk-000/*.parquet";

/// Returns the contents of `meta/info.json`.
pub(super) fn info(path: &Path) -> Result<Value, DataError> {
    let info_file = path.join("meta/info.json");
    let fail = |problem: String| DataError::malformed(&info_file, problem, HINT);
    let text = read_small(&info_file).ok_or_else(|| fail("it cannot be read".into()))?;
    let info: Value = serde_json::from_str(&text).map_err(|error| fail(error.to_string()))?;
    let version = info["codebase_version"].as_str().unwrap_or("(missing)");
    if !version.starts_with("v3.") && !version.starts_with("v2.") {
        let problem = format!("codebase_version {version} is not supported");
        return Err(DataError::malformed(&info_file, problem, "convert it to version 2 or 3"));
    }
    Ok(info)
}

/// The maximum depth of folders in a dataset: `data/chunk-000/file-000.parquet` has one level.
const MAX_LEVELS: u8 = 4;

/// Returns all Parquet files below a folder, in the order of their names. Links to files are
/// followed, since caches store datasets so; links to folders are not, since they can lead in a
/// circle.
pub(super) fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    walk(folder, MAX_LEVELS, &mut files)?;
    // file-1000 comes after file-999.
    files.sort_by_key(|file| (file.as_os_str().len(), file.clone()));
    Ok(files)
}

fn walk(folder: &Path, levels: u8, files: &mut Vec<PathBuf>) -> Result<(), DataError> {
    let fail = DataError::read(folder);
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let (kind, path) = (entry.file_type().map_err(fail)?, entry.path());
        if kind.is_dir() {
            let Some(levels) = levels.checked_sub(1) else {
                let problem = format!("it is more than {MAX_LEVELS} folders deep in the dataset");
                return Err(DataError::malformed(&path, problem, HINT));
            };
            walk(&path, levels, files)?;
        } else if path.extension().is_some_and(|extension| extension == "parquet") && !path.is_dir() {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/file-999.parquet", "a/file-1000.parquet", "file-1.parquet", "a/notes.txt"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let expected = ["file-1.parquet", "a/file-999.parquet", "a/file-1000.parquet"];
        assert_eq!(parquet_files(folder.path()).unwrap(), expected.map(|name| folder.path().join(name)));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("blob"), "").unwrap();
        symlink("blob", folder.path().join("file-0.parquet")).unwrap();
        // Two links double the number of paths with every level.
        for name in ["a", "b", "c.parquet"] {
            symlink(".", folder.path().join(name)).unwrap();
        }
        assert_eq!(parquet_files(folder.path()).unwrap(), [folder.path().join("file-0.parquet")]);
    }

    #[test]
    fn deep_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b/c/d")).unwrap();
        assert!(parquet_files(folder.path()).unwrap().is_empty());
        fs::create_dir_all(folder.path().join("a/b/c/d/e")).unwrap();
        assert!(parquet_files(folder.path()).unwrap_err().to_string().contains("4 folders deep"));
    }
}
