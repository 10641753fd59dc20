//! A distilled policy as one safetensors file, with its description in the header.

use super::{
    DistilledPolicy,
    student::{About, Outputs},
};
use crate::{device::ComputeDevice, distill::described, error::LearnError, run::write_file};
use std::path::Path;

/// The format of the file. It changes whenever a version could misread the files of another.
const FORMAT: u32 = 2;
const KIND: &str = "distilled policy";
const HINT: &str = "distill the planner again";

impl DistilledPolicy {
    /// Returns the contents of its file; equal policies give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        described::to_bytes(&self.to_archive(), FORMAT, self.about())
    }

    /// Writes the policy to a file atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), LearnError> {
        write_file(path, &self.to_bytes())
    }

    /// Reads a policy from a file; it acts on a device, which need not be the one that trained it.
    ///
    /// # Errors
    /// If the file cannot be read, is corrupt, or is not a distilled policy of this format, or the
    /// device is unavailable.
    pub fn load_on(path: &Path, device: ComputeDevice) -> Result<Self, LearnError> {
        let device = device.open()?.device;
        let bytes = described::read(path, HINT)?;
        let (about, archive) = described::parse::<About>(path, &bytes, KIND, FORMAT, HINT)?;
        let wrong = |problem: String| LearnError::malformed(path, problem, HINT);
        check(&about, bytes.len())
            .map_err(|(field, value)| wrong(format!("{field} = {value} is out of range")))?;
        Self::from_archive(about, archive, &device).map_err(|error| wrong(error.to_string()))
    }
}

/// Checks that all fields are in range; the error is the first invalid field and its value.
fn check(about: &About, file_bytes: usize) -> Result<(), (&'static str, String)> {
    let About { observation_width, action_width, goal, width, .. } = about;
    // Checked before the network is built: the file holds at least one number for each of them.
    let max = file_bytes / size_of::<f32>();
    let widths = [("observation_width", observation_width), ("action_width", action_width), ("width", width)];
    for (field, value) in widths {
        if *value == 0 || *value > max || width.saturating_mul(*value) > max {
            return Err((field, value.to_string()));
        }
    }
    if goal.is_empty() || goal.end > *observation_width {
        return Err(("goal", format!("{goal:?}")));
    }
    if about.outputs == Outputs::Displacements && *action_width != goal.len() {
        return Err(("action_width", action_width.to_string()));
    }
    Ok(())
}
