//! The landmarks of a graph in parts.

use super::{GraphError, sample::Sample};
use crate::refined::{HopMetric, RefinedConfig, choice::Choice, nearest::Points};
use isochrone_data::{
    DataError, atomic, regular_file, sha256,
    shards::{Shards, StateColumns},
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file format and of the algorithm; a change of either increments it.
const FORMAT: u32 = 1;
/// The maximum size of a file, which is read into memory.
const MAX_FILE_BYTES: u64 = 4 << 30;
const HINT: &str = "the file is corrupt or was written by another version; choose landmarks again";

/// Landmarks of a dataset in Parquet shards, and all that a part of its graph needs: the columns of
/// states, the hop metric, and the size of jumps.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmarks {
    pub(super) file: File,
    pub(super) metric: HopMetric,
}

/// The contents of the file, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct File {
    format: u32,
    /// Identifies the shards of the dataset.
    pub dataset_sha256: String,
    /// The number of rows of the dataset.
    pub n_rows: u64,
    observations: Vec<String>,
    episode: Option<String>,
    /// The weights of the hop metric.
    weights: Vec<f64>,
    /// For every column, the largest change in a step that is not a jump.
    pub jump_limits: Vec<f32>,
    /// The largest hop from a sampled row to its landmark, in steps.
    pub radius_steps: f32,
    /// The rows that are landmarks, counted over all shards.
    pub rows: Vec<u32>,
    /// `[landmarks, width]`
    states: Vec<f32>,
    /// The maximum number of landmarks for which the distances of all pairs are stored in a table.
    pub table_landmarks: usize,
}

impl Landmarks {
    /// The number of rows of the sample, if no other is given.
    pub const SAMPLE_ROWS: u64 = 2_000_000;

    /// Chooses landmarks from a sample of about `sample_rows` rows: all rows if there are not more,
    /// or else random windows of consecutive rows. Reads the dataset once, and holds the sample in
    /// memory.
    ///
    /// # Errors
    /// If the dataset cannot be read, has no transitions, or no column is informative about elapsed
    /// time.
    pub fn choose(
        shards: &Shards,
        columns: &StateColumns,
        sample_rows: u64,
        config: &RefinedConfig,
    ) -> Result<Self, GraphError> {
        let n_rows = shards.n_rows();
        if n_rows > u64::from(u32::MAX) {
            return Err(GraphError::TooManyRows { rows: n_rows });
        }
        let sample = Sample::read(shards, columns, sample_rows, config.seed)?;
        let choice = Choice::of(&sample.data, n_rows as usize, config)?;
        let states = choice.landmark_rows.iter().flat_map(|&row| sample.data.state(u64::from(row)));
        let file = File {
            format: FORMAT,
            dataset_sha256: shards.sha256(),
            n_rows,
            observations: columns.observations.clone(),
            episode: columns.episode.clone(),
            weights: choice.metric.weights(),
            jump_limits: choice.jump_limits,
            radius_steps: choice.radius,
            states: states.copied().collect(),
            rows: choice.landmark_rows.iter().map(|&row| sample.row_of_dataset(row)).collect(),
            table_landmarks: config.table_landmarks,
        };
        Ok(Self { metric: choice.metric, file })
    }

    /// Returns the number of landmarks.
    pub fn n_landmarks(&self) -> usize {
        self.file.rows.len()
    }

    /// Returns the number of rows of the dataset.
    pub fn n_rows(&self) -> u64 {
        self.file.n_rows
    }

    /// Returns the cover radius: the largest hop from a sampled row to its landmark, in steps.
    pub fn radius_steps(&self) -> f64 {
        f64::from(self.file.radius_steps)
    }

    /// Returns the hop metric.
    pub fn metric(&self) -> &HopMetric {
        &self.metric
    }

    /// Returns the columns that hold states.
    pub fn columns(&self) -> StateColumns {
        let (observations, episode) = (self.file.observations.clone(), self.file.episode.clone());
        StateColumns { observations, episode, width: self.metric.width() }
    }

    /// Returns the landmarks, projected: `[landmarks, projected width]`.
    pub(super) fn projected(&self) -> Vec<f32> {
        let mut projected = Vec::new();
        self.metric.project(&self.file.states, &mut projected);
        projected
    }

    pub(super) fn points(&self) -> Points {
        Points::new(&self.projected(), self.metric.projected_width())
    }

    /// Returns the landmarks as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.file).expect("numbers and strings")
    }

    /// Reads landmarks from JSON; errors name `path`.
    ///
    /// # Errors
    /// If the text is not what [`to_json`](Self::to_json) returns.
    pub fn from_json(path: &Path, text: &str) -> Result<Self, DataError> {
        let fail = |problem: String| DataError::Malformed { path: path.into(), problem, hint: HINT.into() };
        let file: File =
            serde_json::from_str(text).map_err(|error| fail(format!("not a file of landmarks: {error}")))?;
        let (n, width) = (file.rows.len(), file.weights.len());
        let is_valid = file.format == FORMAT
            && n > 0
            && file.states.len() == n.saturating_mul(width)
            && file.jump_limits.len() == width
            && file.n_rows <= u64::from(u32::MAX)
            && file.rows.iter().all(|&row| u64::from(row) < file.n_rows)
            && file.weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0)
            && file.states.iter().all(|value| value.is_finite())
            && (0.0..f32::INFINITY).contains(&file.radius_steps);
        let landmarks = Self { metric: HopMetric::new(&file.weights), file };
        // Large weights make products of finite numbers infinite.
        let is_finite = || landmarks.projected().iter().all(|value| value.is_finite());
        match is_valid && landmarks.metric.projected_width() > 0 && is_finite() {
            true => Ok(landmarks),
            false => Err(fail("its landmarks contradict each other".into())),
        }
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), DataError> {
        let hint = "check that the folder exists, is writable and has free space";
        let fail = |source| DataError::Io { path: path.into(), source, hint };
        atomic::write(path, sealed(&self.to_json()).as_bytes()).map_err(fail)
    }

    /// Opens a file.
    ///
    /// # Errors
    /// If the file cannot be read, or is corrupt.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let text = regular_file::read_at_most(path, MAX_FILE_BYTES)
            .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other))
            .map_err(|source| DataError::Io {
                path: path.into(),
                hint: regular_file::hint(&source),
                source,
            })?;
        let json = unsealed(&text).ok_or_else(|| DataError::Malformed {
            path: path.into(),
            problem: "its checksum is missing or differs from its contents".into(),
            hint: HINT.into(),
        })?;
        Self::from_json(path, &json)
    }
}

/// The first field of a file: the checksum of the same object without it.
const SEAL: &str = "{\"sha256\":\"";

fn sealed(json: &str) -> String {
    format!("{SEAL}{}\",{}", sha256(json.as_bytes()), &json[1..])
}

/// Returns the object without its checksum, if it is that of the object.
fn unsealed(text: &str) -> Option<String> {
    let (checksum, rest) = text.strip_prefix(SEAL)?.split_once("\",")?;
    let json = format!("{{{rest}");
    (sha256(json.as_bytes()) == checksum).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refined::parts::GraphPart;
    use std::sync::Arc;

    /// Returns landmarks on a line, as the text of a file.
    fn text(landmarks: u32, weight: f64, radius_steps: f64) -> String {
        let rows: Vec<u32> = (0..landmarks).collect();
        serde_json::json!({
            "format": FORMAT, "dataset_sha256": "", "n_rows": landmarks, "observations": ["x"],
            "episode": null, "weights": [weight], "jump_limits": [1.0], "radius_steps": radius_steps,
            "rows": rows, "states": rows, "table_landmarks": u64::MAX >> 1,
        })
        .to_string()
    }

    fn read(text: &str) -> Result<Landmarks, DataError> {
        Landmarks::from_json(Path::new("landmarks.json"), text)
    }

    /// The table would take 40 GB.
    #[test]
    fn a_file_does_not_decide_on_the_size_of_the_table() {
        let landmarks = read(&text(100_000, 1.0, 1.0)).unwrap();
        let covered = std::iter::once(0..landmarks.n_rows()).collect();
        let part =
            GraphPart { landmarks: Arc::new(landmarks), covered, jumps: 0, edges: vec![], ends: vec![] };
        assert_eq!(part.distance().unwrap().n_landmarks(), 100_000);
    }

    #[test]
    fn numbers_that_become_infinite_are_refused() {
        read(&text(3, 1.0, 1.0)).unwrap();
        for (weight, radius_steps) in [(1e300, 1.0), (1e77, 1.0), (1.0, 1e39), (1.0, -1.0)] {
            assert!(read(&text(3, weight, radius_steps)).is_err(), "{weight}, {radius_steps}");
        }
    }
}
