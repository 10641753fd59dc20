//! A file of a dataset.

use crate::{DataError, content_hash::hexadecimal, formats::parquet::ParquetTable, regular_file};
use sha2::{Digest as _, Sha256};
use std::{
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

/// The size of the end of a Parquet file: the length of the footer and the magic number.
const TAIL: u64 = 8;

/// A Parquet file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// The file.
    pub path: PathBuf,
    /// The path relative to the dataset.
    pub name: PathBuf,
    /// The number of rows in every row group.
    pub group_rows: Vec<u64>,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The SHA-256 of the footer, which has the offsets, sizes and statistics of all columns.
    pub footer_sha256: String,
}

impl Shard {
    /// Reads the footer of a file.
    pub(super) fn open(name: PathBuf, path: PathBuf) -> Result<Self, DataError> {
        let metadata = ParquetTable::load(&path)?;
        let groups = metadata.metadata().row_groups();
        let group_rows = groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).collect();
        let (bytes, footer_sha256) = footer(&path).map_err(DataError::read(&path))?;
        Ok(Self { path, name, group_rows, bytes, footer_sha256 })
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> u64 {
        self.group_rows.iter().sum()
    }

    /// Returns the text that identifies the contents.
    pub(super) fn identity(&self) -> String {
        format!("{} bytes, footer {}", self.bytes, self.footer_sha256)
    }
}

/// Returns the size of a file and the hash of its footer.
fn footer(path: &Path) -> std::io::Result<(u64, String)> {
    let mut file = regular_file::open(path)?;
    let bytes = file.metadata()?.len();
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
    file.read_exact(&mut tail)?;
    let length = u64::from(u32::from_le_bytes(tail[..4].try_into().expect("four bytes")));
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL + length)))?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file.take(length), &mut hash)?;
    Ok((bytes, hexadecimal(hash)))
}
