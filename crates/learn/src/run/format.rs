//! The format version of a run's files.

use crate::error::LearnError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::Path;

/// The format of all files of a run. It changes whenever a version could misread the files of
/// another.
pub const FORMAT: u32 = 2;

/// The contents of a file, with its format.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    format: u32,
    #[serde(flatten)]
    contents: T,
}

/// The format alone, which every version writes.
#[derive(Deserialize)]
struct FormatOf {
    format: Option<u32>,
}

/// Returns the contents as JSON, with the format.
pub fn to_json(contents: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(&Versioned { format: FORMAT, contents }).expect("plain data")
}

/// Reads the output of [`to_json`] of this format; `malformed` creates the error of invalid JSON.
pub fn from_json<T: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
    malformed: impl Fn(String) -> LearnError,
) -> Result<T, LearnError> {
    let malformed = |error: serde_json::Error| malformed(error.to_string());
    check(path, serde_json::from_slice::<FormatOf>(bytes).map_err(malformed)?.format)?;
    Ok(serde_json::from_slice::<Versioned<T>>(bytes).map_err(malformed)?.contents)
}

/// Checks that a file has the format of this version.
pub fn check(path: &Path, found: Option<u32>) -> Result<(), LearnError> {
    match found {
        Some(FORMAT) => Ok(()),
        _ => Err(LearnError::Format { path: path.into(), found: found.unwrap_or(1), expected: FORMAT }),
    }
}
