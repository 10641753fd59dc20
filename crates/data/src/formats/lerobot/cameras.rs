//! The cameras of a dataset, whose images this crate does not read.

use super::files::info;
use crate::DataError;
use std::path::Path;

/// A camera of a LeRobot dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Camera {
    /// The name of the feature, such as `observation.images.top`.
    pub name: String,
    /// `video`, or `image` if the Parquet files hold the images.
    pub kind: String,
    /// The declared shape of an image, such as height, width and channels.
    pub shape: Vec<u64>,
}

impl Camera {
    /// Returns the cameras that the metadata of a dataset declare, in the order of their names.
    ///
    /// # Errors
    /// If the metadata cannot be read.
    pub fn of_dataset(dataset: &Path) -> Result<Vec<Self>, DataError> {
        let info = info(dataset)?;
        let features = info["features"].as_object().into_iter().flatten();
        let camera = |(name, feature): (&String, &serde_json::Value)| {
            let kind = feature["dtype"].as_str().filter(|kind| ["image", "video"].contains(kind))?;
            let shape = feature["shape"].as_array().into_iter().flatten();
            let shape = shape.filter_map(serde_json::Value::as_u64).collect();
            Some(Self { name: name.clone(), kind: kind.to_owned(), shape })
        };
        let mut cameras: Vec<Self> = features.filter_map(camera).collect();
        cameras.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(cameras)
    }
}
