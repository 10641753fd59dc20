//! Loads datasets from files.

use crate::{
    Access, DataError, Dataset, DatasetBuilder, HubFolders,
    formats::{Format, ReadOptions, arrow, shards},
    remote::{self, CacheOptions, DatasetUrl},
};
use std::{borrow::Borrow, borrow::Cow, path::Path};

impl Dataset {
    /// Loads a dataset from a file or folder of any [`Format`]. Files of the isochrone Arrow
    /// format are mapped, all others are read into memory.
    ///
    /// A folder of shards, such as `part-00000.arrow`, `part-00001.arrow`, opens as one dataset:
    /// the episodes of all shards in the order of their names, under one index.
    ///
    /// A path such as `org/name` that does not exist is looked up among the downloaded datasets of
    /// the hub; see [`HubFolders`].
    ///
    /// With the Cargo feature `remote`, the path may be an address such as `s3://logs/walks`; see
    /// [`remote`]. [`remote::fetch`] reports progress, and has the settings of the cache.
    pub fn load(path: impl AsRef<Path>, options: impl Borrow<ReadOptions>) -> Result<Self, DataError> {
        let (path, options) = (&*local(path.as_ref())?, options.borrow());
        match Format::detect(path)? {
            // Embeddings are not in the file, which cannot be mapped then.
            Format::Arrow if options.embeddings.is_empty() => map(path, options, Access::Random),
            format => {
                let mut builder = DatasetBuilder::default();
                format.read(path, options, &mut builder)?;
                Ok(builder.finish())
            }
        }
    }

    /// Maps a file of the isochrone Arrow format, or a folder of such shards, after verifying the
    /// checksums. Memory use does not grow with the size of the files.
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self, DataError> {
        map(&local(path.as_ref())?, &ReadOptions::default(), access)
    }
}

/// Returns the local path of a dataset. An address is downloaded into the cache that the
/// environment selects, and an id of the hub is looked up on this machine.
fn local(path: &Path) -> Result<Cow<'_, Path>, DataError> {
    match DatasetUrl::of_path(path)? {
        Some(url) => Ok(remote::fetch(&url, &CacheOptions::from_env()?, &mut |_| ())?.path.into()),
        None => HubFolders::from_env().resolve(path),
    }
}

/// Maps a file or all shards of a folder.
fn map(path: &Path, options: &ReadOptions, access: Access) -> Result<Dataset, DataError> {
    if !path.is_dir() {
        return arrow::open(&[path], options, access);
    }
    let shards = shards::list(path)?;
    let data = arrow::open(shards.paths(), options, access)?;
    shards.require_hash(data.content_hash())?;
    Ok(data)
}
