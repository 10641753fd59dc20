//! Which version of a run's files this is.

use crate::error::LearnError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::Path;

/// Of everything in a run's folder. It changes whenever a version could misread the files of another.
pub const FORMAT: u32 = 2;

/// Contents of a file after the number of its format.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    format: u32,
    #[serde(flatten)]
    contents: T,
}

/// What says how to read the rest, whatever else another version writes.
#[derive(Deserialize)]
struct FormatOf {
    format: Option<u32>,
}

/// Contents as JSON, with the number of the format.
pub fn to_json(contents: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(&Versioned { format: FORMAT, contents }).expect("plain data")
}

/// Reads what [`to_json`] made in this version; text that is no JSON is an error that `malformed` makes.
pub fn from_json<T: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
    malformed: impl Fn(String) -> LearnError,
) -> Result<T, LearnError> {
    let malformed = |error: serde_json::Error| malformed(error.to_string());
    check(path, serde_json::from_slice::<FormatOf>(bytes).map_err(malformed)?.format)?;
    Ok(serde_json::from_slice::<Versioned<T>>(bytes).map_err(malformed)?.contents)
}

/// Refuses other formats than this one.
pub fn check(path: &Path, found: Option<u32>) -> Result<(), LearnError> {
    match found {
        Some(FORMAT) => Ok(()),
        _ => Err(LearnError::Format { path: path.into(), found: found.unwrap_or(1), expected: FORMAT }),
    }
}
