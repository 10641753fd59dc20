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

/// Returns all Parquet files below a folder, in the order of their names.
pub(super) fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(DataError::read(folder))?;
    for entry in entries {
        let path = entry.map_err(DataError::read(folder))?.path();
        match path.is_dir() {
            true => files.extend(parquet_files(&path)?),
            false if path.extension().is_some_and(|extension| extension == "parquet") => files.push(path),
            false => {}
        }
    }
    // file-1000 comes after file-999.
    files.sort_by_key(|file| (file.as_os_str().len(), file.clone()));
    Ok(files)
}
