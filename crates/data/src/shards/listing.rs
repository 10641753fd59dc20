//! The shards of a dataset.

use super::{Part, Shard, Unit, find, unit};
use crate::{
    DataError,
    content_hash::sha256,
    formats::{columns::Names, parquet::ParquetTable},
};
use std::path::{Path, PathBuf};

/// A Parquet dataset: the shards in the order of their names. Only their footers are read.
#[derive(Debug, Clone)]
pub struct Shards {
    dataset: PathBuf,
    shards: Vec<Shard>,
}

impl Shards {
    /// Finds the shards of a dataset: a file, all `.parquet` files of a folder and its subfolders,
    /// or a pattern with `*` and `?`.
    ///
    /// # Errors
    /// If there is no such file, or one is not a readable Parquet file.
    pub fn open(dataset: &Path) -> Result<Self, DataError> {
        let files = find::files(dataset)?;
        let shards = files.into_iter().map(|(name, path)| Shard::open(name, path));
        Ok(Self { dataset: dataset.into(), shards: shards.collect::<Result<_, _>>()? })
    }

    /// Returns the path that the dataset was opened with.
    pub fn dataset(&self) -> &Path {
        &self.dataset
    }

    /// Returns all shards.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Returns the number of rows of all shards.
    pub fn n_rows(&self) -> u64 {
        self.shards.iter().map(Shard::n_rows).sum()
    }

    /// Returns the number of values of a state in the first shard: of these columns or, if there
    /// are none, of those with common names.
    ///
    /// # Errors
    /// If the shard has no such columns.
    pub fn state_width(&self, observations: &[String]) -> Result<usize, DataError> {
        let Some(first) = self.shards.first() else { return Ok(0) };
        let table = ParquetTable::open(&first.path)?;
        let found = Names { path: &first.path, columns: &table.columns }.observations(observations)?;
        Ok(found.iter().map(|&at| table.columns[at].width).sum())
    }

    /// Returns the SHA-256 of the sizes and footers of all shards, which identifies the dataset.
    pub fn sha256(&self) -> String {
        let identities: String = self.shards.iter().map(|shard| shard.identity() + "\n").collect();
        sha256(identities.as_bytes())
    }

    /// Returns the units of a part, in order. Every unit belongs to one part, and parts have about
    /// the same number of rows.
    pub fn units(&self, part: Part) -> Vec<Unit> {
        let (mut units, total) = (unit::all(&self.shards), self.n_rows());
        units.retain(|unit| part.contains(unit.first_row, unit.rows, total));
        units
    }
}
