//! The text files of a study, with limits: they may come from strangers.

use crate::error::StudyError;
use isochrone_data::regular_file;
use isochrone_learn::run::write_file;
use serde::{Serialize, de::DeserializeOwned};
use std::{io, path::Path};

/// The maximum size of a file with results.
pub const MAX_RESULTS_BYTES: u64 = 1 << 28;

/// Writes a value as JSON, all of it or nothing.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StudyError> {
    let text = serde_json::to_string_pretty(value).expect("plain data");
    Ok(write_file(path, format!("{text}\n").as_bytes())?)
}

/// Reads a file if it exists and is valid; otherwise its contents are computed again.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_str(&read_text(path, MAX_RESULTS_BYTES).ok()?).ok()
}

/// Reads a text file that has up to `limit_bytes`.
pub fn read_text(path: &Path, limit_bytes: u64) -> Result<String, StudyError> {
    let text = regular_file::read_at_most(path, limit_bytes).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    text.map_err(StudyError::io(path))
}
