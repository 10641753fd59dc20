//! Weights in a safetensors file whose header describes them.

use crate::error::LearnError;
use isochrone_nn::store::Archive;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{fs, path::Path};

/// The maximum size of a file.
const MAX_BYTES: u64 = 1 << 30;

/// A description with its format.
#[derive(Serialize, Deserialize)]
struct Header<A> {
    format: u32,
    #[serde(flatten)]
    about: A,
}

/// The format alone.
#[derive(Deserialize)]
struct FormatOf {
    format: u32,
}

/// Returns the contents of a file.
pub fn to_bytes<A: Serialize>(archive: &Archive, format: u32, about: A) -> Vec<u8> {
    archive.to_described_bytes(&serde_json::to_string(&Header { format, about }).expect("plain data"))
}

/// Reads the contents of a file that is not too large.
pub fn read(path: &Path, hint: &str) -> Result<Vec<u8>, LearnError> {
    let size = fs::metadata(path).map_err(|error| LearnError::read(path, error))?.len();
    if size > MAX_BYTES {
        return Err(LearnError::malformed(path, format!("file of {size} bytes is too large"), hint));
    }
    fs::read(path).map_err(|error| LearnError::read(path, error))
}

/// Returns the description and the weights in the contents of a file. All weights are finite.
pub fn parse<A: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
    kind: &str,
    format: u32,
    hint: &str,
) -> Result<(A, Archive), LearnError> {
    let wrong = |problem: String| LearnError::malformed(path, problem, hint);
    let text = Archive::description(bytes).map_err(|error| wrong(error.to_string()))?;
    let text = text.ok_or_else(|| wrong(format!("not a {kind}")))?;
    let FormatOf { format: found } = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if found != format {
        return Err(wrong(format!("{kind} of format {found}, not {format}")));
    }
    let Header { about, .. } = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let archive = Archive::from_bytes(bytes).map_err(|error| wrong(error.to_string()))?;
    if let Some(name) = archive.first_non_finite() {
        return Err(wrong(format!("tensor {name} has a value that is not finite")));
    }
    Ok((about, archive))
}
