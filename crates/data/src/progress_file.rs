//! Files with the progress of every frame, in the layout of LeRobot's reward models.
//!
//! | column | |
//! |---|---|
//! | `index`, `episode_index`, `frame_index` | int64, as in the dataset |
//! | `progress_sparse` | float32 in 0..1; NaN where it is unknown |
//! | `steps_to_go`, `seconds_to_go` | float32; infinite if no path is known; seconds if the frame rate is |
//!
//! Rows are looked up by `index`, so a file does not fit a dataset that was edited afterward: its
//! metadata hold the hash of the dataset.

use crate::{
    DataError,
    formats::lerobot::FrameNumbers,
    number_table::{NumberTable, Numbers},
};
use std::{collections::BTreeMap, path::Path};

/// The key of the metadata that names the model that computed the file.
const MADE_BY: &str = "reward_model_path";
/// Its value in files of this crate, before the version.
const ISOCHRONE: &str = "isochrone";
/// The keys of the layout's version and of the dataset's hash.
const LAYOUT: &str = "isochrone:progress_layout";
const DATA: &str = "isochrone:data_sha256";

/// The progress of every frame of a dataset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressFile {
    /// The numbers of the frames.
    pub frames: FrameNumbers,
    /// The share of the task that is done.
    pub progress: Vec<f32>,
    /// The frames that are left.
    pub steps_to_go: Vec<f32>,
    /// The frame rate of the dataset, if it is known.
    pub frames_per_second: Option<f64>,
    /// The content hash of the dataset.
    pub data_sha256: String,
}

impl ProgressFile {
    /// The layout of the files that are written; a reader refuses others.
    pub const LAYOUT_VERSION: &str = "1";

    /// Writes the file atomically. An existing file of another program is never overwritten.
    ///
    /// # Errors
    /// If there is such a file, or the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), DataError> {
        if path.exists() && !Self::is_own(path) {
            let problem = "it was written by another program, and is not overwritten";
            return Err(DataError::malformed(path, problem, "choose another name, or move the file"));
        }
        let mut columns = vec![
            ("index".to_owned(), Numbers::Signed(self.frames.index.clone())),
            ("episode_index".to_owned(), Numbers::Signed(self.frames.episode_index.clone())),
            ("frame_index".to_owned(), Numbers::Signed(self.frames.frame_index.clone())),
            ("progress_sparse".to_owned(), Numbers::Values(self.progress.clone())),
            ("steps_to_go".to_owned(), Numbers::Values(self.steps_to_go.clone())),
        ];
        if let Some(rate) = self.frames_per_second {
            let seconds = self.steps_to_go.iter().map(|steps| (f64::from(*steps) / rate) as f32);
            columns.push(("seconds_to_go".to_owned(), Numbers::Values(seconds.collect())));
        }
        let texts = BTreeMap::from([
            (MADE_BY.to_owned(), format!("{ISOCHRONE} {}", env!("CARGO_PKG_VERSION"))),
            (LAYOUT.to_owned(), Self::LAYOUT_VERSION.to_owned()),
            (DATA.to_owned(), self.data_sha256.clone()),
        ]);
        NumberTable { columns, texts }.write(path)
    }

    /// Reads a file that [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// If the file cannot be read, or has another layout.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let table = NumberTable::read(path)?;
        let hint = "write it with isochrone progress";
        let text = |key: &str| table.texts.get(key).cloned().unwrap_or_default();
        if text(LAYOUT) != Self::LAYOUT_VERSION {
            return Err(DataError::malformed(path, "not a progress file of this version", hint));
        }
        let missing = |name: &str| DataError::malformed(path, format!("no column '{name}'"), hint);
        let signed = |name: &str| table.signed(name).map(<[i64]>::to_vec).ok_or_else(|| missing(name));
        let values = |name: &str| table.values(name).map(<[f32]>::to_vec).ok_or_else(|| missing(name));
        Ok(Self {
            frames: FrameNumbers {
                index: signed("index")?,
                episode_index: signed("episode_index")?,
                frame_index: signed("frame_index")?,
            },
            progress: values("progress_sparse")?,
            steps_to_go: values("steps_to_go")?,
            frames_per_second: None,
            data_sha256: text(DATA),
        })
    }

    /// Returns whether a file was written by this crate.
    fn is_own(path: &Path) -> bool {
        let made_by = |table: NumberTable| table.texts.get(MADE_BY).cloned().unwrap_or_default();
        NumberTable::read(path).is_ok_and(|table| made_by(table).starts_with(ISOCHRONE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_exact_and_those_of_other_programs_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("progress.parquet");
        let numbers = |from: i64| vec![from, from + 1];
        let mut file = ProgressFile {
            frames: FrameNumbers {
                index: numbers(1 << 40),
                episode_index: numbers(0),
                frame_index: numbers(3),
            },
            progress: vec![0.25, 1.0],
            steps_to_go: vec![30.0, f32::INFINITY],
            frames_per_second: Some(30.0),
            data_sha256: "abc".into(),
        };
        file.write(&path).unwrap();
        file.write(&path).unwrap();
        let seconds = NumberTable::read(&path).unwrap().values("seconds_to_go").unwrap().to_vec();
        assert_eq!(seconds, [1.0, f32::INFINITY]);
        file.frames_per_second = None;
        assert_eq!(ProgressFile::read(&path).unwrap(), file);

        let other = folder.path().join("sarm_progress.parquet");
        let texts = BTreeMap::from([(MADE_BY.to_owned(), "sarm".to_owned())]);
        NumberTable { columns: vec![("index".into(), Numbers::Signed(vec![0]))], texts }
            .write(&other)
            .unwrap();
        let before = std::fs::read(&other).unwrap();
        let error = file.write(&other).unwrap_err().to_string();
        assert!(error.contains("sarm_progress.parquet") && error.contains("another program"), "{error}");
        assert!(std::fs::read(&other).unwrap() == before && ProgressFile::read(&other).is_err());
    }
}
