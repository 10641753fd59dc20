//! The files of the benchmark.

use super::row::DistanceRow;
use crate::{StudyError, files::MAX_RESULTS_BYTES};
use isochrone_data::regular_file;
use isochrone_learn::{ComputeDevice, error::LearnError, run::Provenance};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file `results.json`.
#[derive(Serialize, Deserialize)]
pub struct DistanceResults {
    /// The version of isochrone.
    pub version: String,
    /// The revision of its sources.
    pub revision: Option<String>,
    /// The processor and the operating system.
    pub platform: String,
    /// The rows.
    pub rows: Vec<DistanceRow>,
}

impl DistanceResults {
    pub fn new(rows: &[DistanceRow]) -> Self {
        let Provenance { isochrone, git_revision, platform, .. } = Provenance::now();
        Self { version: isochrone, revision: git_revision, platform, rows: rows.to_vec() }
    }
}

/// Returns the description of a GPU; `None` for the CPU.
pub fn gpu(device: ComputeDevice) -> Result<Option<String>, StudyError> {
    let is_gpu = device != ComputeDevice::Cpu;
    let description = device.open().map_err(LearnError::from)?.description;
    Ok(is_gpu.then_some(description))
}

pub fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("rows can be written as JSON");
    text.push(b'\n');
    text
}

/// Reads the rows of a file; `None` if there is no file.
pub fn read(path: &Path) -> Result<Option<Vec<DistanceRow>>, StudyError> {
    match regular_file::read_at_most(path, MAX_RESULTS_BYTES) {
        Ok(text) => {
            let rows = serde_json::from_slice(&text).map_err(|error| StudyError::Invalid {
                path: path.to_owned(),
                problem: error.to_string(),
                hint: "remove the file to measure again",
            })?;
            Ok(Some(rows))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StudyError::io(path)(error)),
    }
}
