//! Loads datasets from files.

use crate::{
    Access, DataError, Dataset, DatasetBuilder,
    formats::{Format, ReadOptions, arrow},
};
use std::{borrow::Borrow, path::Path};

impl Dataset {
    /// Loads a dataset from a file or folder of any [`Format`]. Files of the isochrone Arrow
    /// format are mapped, all others are read into memory.
    pub fn load(path: impl AsRef<Path>, options: impl Borrow<ReadOptions>) -> Result<Self, DataError> {
        let (path, options) = (path.as_ref(), options.borrow());
        match Format::detect(path)? {
            Format::Arrow => arrow::open(path, options, Access::Random),
            format => {
                let mut builder = DatasetBuilder::default();
                format.read(path, options, &mut builder)?;
                Ok(builder.finish())
            }
        }
    }

    /// Maps a file of the isochrone Arrow format after verifying its checksum. Memory use does not
    /// grow with the size of the file.
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self, DataError> {
        arrow::open(path.as_ref(), &ReadOptions::default(), access)
    }
}
