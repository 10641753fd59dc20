//! Weights in a safetensors file whose header describes them.

use crate::{error::LearnError, run::checkpoint::sha256};
use isochrone_data::regular_file;
use isochrone_nn::store::Archive;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{io::ErrorKind, path::Path};

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

/// Returns the contents of a file. The last field of the description is the SHA-256 of the others
/// and of the weights.
pub fn to_bytes<A: Serialize>(archive: &Archive, format: u32, about: A) -> Vec<u8> {
    let text = serde_json::to_string(&Header { format, about }).expect("plain data");
    let fields = text.strip_suffix('}').expect("an object");
    archive.to_described_bytes(&format!("{fields}{}{}{END}", START, checksum(fields, archive)))
}

/// What is before and after the checksum.
const START: &str = ",\"sha256\":\"";
const END: &str = "\"}";

fn checksum(fields: &str, archive: &Archive) -> String {
    sha256(&[fields.as_bytes(), &archive.to_bytes()].concat())
}

/// Reads the contents of a file that is not too large.
pub fn read(path: &Path, hint: &str) -> Result<Vec<u8>, LearnError> {
    regular_file::read_at_most(path, MAX_BYTES).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => {
            LearnError::malformed(path, format!("larger than {MAX_BYTES} bytes"), hint)
        }
        _ => LearnError::read(path, error),
    })
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
    let archive = Archive::from_bytes(bytes).map_err(|error| wrong(error.to_string()))?;
    let fields = text.strip_suffix(END).and_then(|text| text.rsplit_once(START));
    // A file that is written again is the same, so every byte is covered.
    let is_whole = fields.is_some_and(|(fields, sum)| sum == checksum(fields, &archive));
    if !is_whole || archive.to_described_bytes(&text) != bytes {
        return Err(wrong("its SHA-256 differs from that in its header".to_owned()));
    }
    let Header { about, .. } = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if let Some(name) = archive.first_non_finite() {
        return Err(wrong(format!("tensor {name} has a value that is not finite")));
    }
    Ok((about, archive))
}
