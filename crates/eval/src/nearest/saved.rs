//! The folder of an index: one file per shard in the format of the search library, and a list of
//! them with their checksums.
//!
//! The library trusts the edges of a file that it maps. The checksum of every file is therefore
//! compared, and its edges are checked, before it is mapped: a folder may come from a stranger, who
//! can write checksums, too.

use super::{IndexConfig, NearestError, shard::Shard};
use isochrone_core::LatentMetric;
use isochrone_data::{atomic::AtomicFolder, file_sha256};
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::Path,
    sync::Arc,
};

/// The version of the folder and of the settings that do not depend on the caller.
const FORMAT: u32 = 1;
const CONTENTS: &str = "index.json";
/// The list of files is small; a larger file is not one.
const MAX_CONTENTS: u64 = 1 << 24;

/// The list of the files of an index.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    format: u32,
    fingerprint: String,
    latent_width: usize,
    shard_rows: usize,
    connectivity: usize,
    expansion_add: usize,
    shards: Vec<ShardFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShardFile {
    rows: usize,
    sha256: String,
}

fn name(shard: usize) -> String {
    format!("shard-{shard:04}.usearch")
}

pub(super) fn write(
    folder: &Path,
    fingerprint: &str,
    config: &IndexConfig,
    latent_width: usize,
    shards: &[Shard],
) -> Result<(), NearestError> {
    let io = |source| NearestError::Io { path: folder.into(), source };
    let new = AtomicFolder::create(folder).map_err(io)?;
    let mut files = Vec::new();
    for (number, shard) in shards.iter().enumerate() {
        let path = new.path().join(name(number));
        shard.save(&path)?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(io)?;
        files.push(ShardFile { rows: shard.len(), sha256: file_sha256(&path).map_err(io)?.1 });
    }
    let IndexConfig { shard_rows, connectivity, expansion_add, .. } = *config;
    let fingerprint = fingerprint.to_owned();
    let contents = Contents {
        format: FORMAT,
        fingerprint,
        latent_width,
        shard_rows,
        connectivity,
        expansion_add,
        shards: files,
    };
    let text = serde_json::to_vec_pretty(&contents).map_err(|error| io(error.into()))?;
    new.write(CONTENTS, &text).map_err(io)?;
    // An index can be built again: if the process ends between the two, there is none.
    remove(folder).map_err(io)?;
    new.commit().map_err(io)
}

/// Removes an index, but no other file.
fn remove(folder: &Path) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let is_ours = |name: &str| name == CONTENTS || name.ends_with(".usearch");
    for entry in entries {
        let entry = entry?;
        if !entry.file_type()?.is_file() || !entry.file_name().to_str().is_some_and(is_ours) {
            let problem = format!("{} is not a part of an index", entry.path().display());
            return Err(std::io::Error::new(ErrorKind::AlreadyExists, problem));
        }
        std::fs::remove_file(entry.path())?;
    }
    std::fs::remove_dir(folder)
}

/// Maps the shards of an index; `None` if there is no index, or one of another version, fingerprint
/// or settings.
pub(super) fn read(
    folder: &Path,
    fingerprint: &str,
    config: &IndexConfig,
    metric: &Arc<dyn LatentMetric>,
) -> Result<Option<Vec<Shard>>, NearestError> {
    let path = folder.join(CONTENTS);
    let corrupt = |path: &Path, problem: String| NearestError::Corrupt { path: path.into(), problem };
    let mut text = Vec::new();
    match File::open(&path).and_then(|file| file.take(MAX_CONTENTS).read_to_end(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(NearestError::Io { path, source }),
    }
    let contents: Contents =
        serde_json::from_slice(&text).map_err(|error| corrupt(&path, error.to_string()))?;
    let is_same = contents.format == FORMAT
        && contents.fingerprint == fingerprint
        && contents.latent_width == metric.width()
        && (contents.shard_rows, contents.connectivity, contents.expansion_add)
            == (config.shard_rows, config.connectivity, config.expansion_add);
    if !is_same {
        return Ok(None);
    }
    let shards = contents.shards.iter().enumerate().map(|(number, file)| {
        let path = folder.join(name(number));
        let (_, sha256) = file_sha256(&path).map_err(|error| corrupt(&path, error.to_string()))?;
        if sha256 != file.sha256 {
            return Err(corrupt(&path, "its checksum differs from that of the index".to_owned()));
        }
        let shard = Shard::open(metric.clone(), config, &path)?;
        // Rows are numbered through all shards: all but the last are full.
        let is_last = number + 1 == contents.shards.len();
        let (rows, least) = (shard.len(), if is_last { 1 } else { config.shard_rows });
        if rows != file.rows {
            return Err(corrupt(&path, format!("it has {rows} rows instead of {}", file.rows)));
        }
        if !(least..=config.shard_rows).contains(&rows) {
            return Err(corrupt(&path, format!("it has {rows} rows in shards of {}", config.shard_rows)));
        }
        Ok(shard)
    });
    shards.collect::<Result<_, _>>().map(Some)
}
