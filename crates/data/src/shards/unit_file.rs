//! The file of a unit: written atomically, identified by what it was computed from.

use crate::{DataError, atomic, formats::parquet::ParquetTable, unfinished};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::{metadata::KeyValue, properties::WriterProperties},
    schema::types::ColumnPath,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// The number of rows in a row group.
const GROUP_ROWS: usize = 1 << 20;
/// A row group of more bytes than this is closed.
const GROUP_BYTES: usize = 256 << 20;

/// Named texts in the metadata of a file that identify what it was computed from.
pub(super) type Keys = BTreeMap<&'static str, String>;

/// Returns the keys of a complete file; `None` if there is no file.
pub(super) fn keys(path: &Path) -> Result<Option<BTreeMap<String, String>>, DataError> {
    if !path.try_exists().map_err(DataError::read(path))? {
        return Ok(None);
    }
    let metadata = ParquetTable::load(path)?;
    let entries = metadata.metadata().file_metadata().key_value_metadata();
    let entries = entries.into_iter().flatten().cloned();
    Ok(Some(entries.map(|entry| (entry.key, entry.value.unwrap_or_default())).collect()))
}

/// Removes what killed processes left of these files.
pub(super) fn remove_unfinished(paths: &[PathBuf]) -> Result<(), DataError> {
    let folders: BTreeSet<&Path> = paths.iter().map(|path| atomic::folder_of(path)).collect();
    let prefixes: BTreeSet<String> = paths.iter().map(|path| unfinished::prefix(path)).collect();
    for folder in folders {
        for entry in std::fs::read_dir(folder).map_err(DataError::read(folder))? {
            let entry = entry.map_err(DataError::read(folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let prefix = name.rsplit_once('-').map(|(before, _)| format!("{before}-"));
            let prefix = prefix.filter(|prefix| prefixes.contains(prefix));
            // Another process may be writing the same file.
            if prefix.is_some_and(|prefix| unfinished::has_prefix(&name, &prefix)) {
                unfinished::remove_if_abandoned(&entry.path());
            }
        }
    }
    Ok(())
}

/// Writes a file under a temporary name, until it is complete.
pub(super) struct UnitFile {
    path: PathBuf,
    writer: ArrowWriter<NamedTempFile>,
}

impl UnitFile {
    /// Creates the file. Columns in `plain` have few equal values, and no dictionary.
    pub fn create(path: &Path, schema: SchemaRef, keys: &Keys, plain: &[String]) -> Result<Self, DataError> {
        let compression = Compression::ZSTD(ZstdLevel::try_new(1).map_err(DataError::refused(path))?);
        let keys = keys.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
        let mut properties = WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_key_value_metadata(Some(keys));
        for name in plain {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(name.as_str()), false);
        }
        let file = atomic::create_named(path).map_err(DataError::write(path))?;
        let writer =
            ArrowWriter::try_new(file, schema, Some(properties.build())).map_err(DataError::refused(path))?;
        Ok(Self { path: path.into(), writer })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), DataError> {
        let refused = DataError::refused(&self.path);
        self.writer.write(batch).map_err(refused)?;
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.writer.flush().map_err(DataError::refused(&self.path))?;
        }
        Ok(())
    }

    /// Makes the file durable and visible.
    pub fn finish(self) -> Result<(), DataError> {
        let file = self.writer.into_inner().map_err(DataError::refused(&self.path))?;
        atomic::commit(file, &self.path).map_err(DataError::write(&self.path))
    }
}
