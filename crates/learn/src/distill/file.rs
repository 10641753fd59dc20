//! A distilled distance as one safetensors file, with its description in the header.

use super::{
    DistilledDistance, described,
    distance::About,
    features::{Columns, FeatureMap},
    network::Student,
};
use crate::{device::ComputeDevice, error::LearnError, run::write_file};
use std::path::Path;

/// The format of the file. It changes whenever a version could misread the files of another.
const FORMAT: u32 = 2;
const KIND: &str = "distilled distance";
const HINT: &str = "distill again";

impl DistilledDistance {
    /// Returns the contents of its file; equal distances give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        described::to_bytes(&self.to_archive(), FORMAT, self.about())
    }

    /// Writes the distance to a file atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), LearnError> {
        write_file(path, &self.to_bytes())
    }

    /// Reads a distance from a file.
    ///
    /// # Errors
    /// If the file cannot be read, is corrupt, or is not a distilled distance of this format.
    pub fn load(path: &Path) -> Result<Self, LearnError> {
        Self::load_on(path, ComputeDevice::Cpu)
    }

    /// Reads a distance from a file; queries are computed on a device, which need not be the one
    /// that trained it.
    ///
    /// # Errors
    /// As [`load`](Self::load), or if the device is unavailable.
    pub fn load_on(path: &Path, device: ComputeDevice) -> Result<Self, LearnError> {
        let device = device.open()?.device;
        let bytes = described::read(path, HINT)?;
        let (about, archive) = described::parse::<About>(path, &bytes, KIND, FORMAT, HINT)?;
        let wrong = |problem: String| LearnError::malformed(path, problem, HINT);
        check(&about).map_err(|(field, value)| wrong(format!("{field} = {value} is out of range")))?;
        let features = FeatureMap::take_from(&mut archive.clone(), about.columns.clone());
        let features = features.map_err(|error| wrong(error.to_string()))?;
        // Checked before the network is built, since the header determines its size.
        if Student::min_bytes(about.head, &features) > bytes.len() {
            return Err(wrong("too few weights for its columns".to_owned()));
        }
        Self::from_archive(about, archive, &device).map_err(|error| wrong(error.to_string()))
    }
}

/// Checks that all fields are in range; the error is the first invalid field and its value.
fn check(about: &About) -> Result<(), (&'static str, String)> {
    let Columns { width, used, goal } = &about.columns;
    let is_sorted = used.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_sorted || used.last().is_none_or(|last| last >= width) {
        return Err(("columns.used", format!("{used:?}")));
    }
    if u32::try_from(*width).is_err() {
        return Err(("columns.width", width.to_string()));
    }
    if goal.end > *width || !used.iter().any(|column| goal.contains(column)) {
        return Err(("columns.goal", format!("{goal:?}")));
    }
    for (field, value) in [("unit_steps", about.unit_steps), ("longest_steps", about.longest_steps)] {
        if !(value.is_finite() && value > 0.0) {
            return Err((field, value.to_string()));
        }
    }
    Ok(())
}
