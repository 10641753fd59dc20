//! The list of the shards of a dataset, stored beside them.

use crate::{DataError, regular_file};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path};

/// The only version so far.
const FORMAT: &str = "isochrone shards 1";
/// The maximum size of a manifest: more than enough for a million shards.
const MAX_BYTES: u64 = 256 << 20;

/// The shards of a dataset with their hashes, and the content hash of all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardManifest {
    format: String,
    /// The content hash of the dataset.
    pub sha256: String,
    pub shards: Vec<ShardEntry>,
}

/// One file of a sharded dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardEntry {
    /// The file name, without a folder.
    pub name: String,
    /// The size of the file.
    pub bytes: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
}

impl ShardManifest {
    /// The name of the manifest in the folder of its shards.
    pub const NAME: &str = "shards.json";

    pub fn new(sha256: String, shards: Vec<ShardEntry>) -> Self {
        Self { format: FORMAT.into(), sha256, shards }
    }

    /// Reads the manifest of a folder, if there is one.
    pub fn of_folder(folder: &Path) -> Result<Option<Self>, DataError> {
        let path = folder.join(Self::NAME);
        match regular_file::read_at_most(&path, MAX_BYTES) {
            Ok(text) => Self::parse(&path, &text).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DataError::read(&path)(error)),
        }
    }

    /// Parses a manifest; `path` is its name in errors.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, DataError> {
        let fail = |problem: String| DataError::malformed(path, problem, HINT);
        let manifest: Self = serde_json::from_slice(text).map_err(|error| fail(error.to_string()))?;
        if manifest.format != FORMAT {
            return Err(fail(format!("format '{}', not '{FORMAT}'", manifest.format)));
        }
        // A name with a folder could point anywhere.
        match manifest.shards.iter().find(|shard| !is_file_name(&shard.name)) {
            Some(shard) => Err(fail(format!("'{}' is not a file name", shard.name))),
            None => Ok(manifest),
        }
    }

    /// Returns the manifest as text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest is plain data") + "\n"
    }
}

const HINT: &str = "write the shards again, or delete the manifest to open them without it";

fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}
