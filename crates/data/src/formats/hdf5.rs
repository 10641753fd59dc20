//! The part that the two HDF5 formats share: columns of numbers, read in windows of rows.

use super::ReadOptions;
use crate::{DataError, regular_file};
use hdf5_pure::{DType, Dataset as H5Dataset, File, FileAccessProperties, MetadataCacheConfig};
use std::path::Path;

/// The maximum expansion of any filter: a file cannot contain more than this multiple of its size.
const MAX_EXPANSION: u64 = 1040;
/// The number of rows decoded at a time.
pub(super) const WINDOW_ROWS: u64 = 4096;

pub(super) fn open(path: &Path, hint: &str) -> Result<File, DataError> {
    regular_file::open(path).map_err(DataError::read(path))?;
    let access = FileAccessProperties::new().with_metadata_cache(MetadataCacheConfig::new(16 << 20));
    File::open_streaming_with_options(path, access)
        .map_err(|error| DataError::malformed(path, format!("not a readable HDF5 file: {error}"), hint))
}

/// Rejects shapes, chunks and chunk addresses that the file cannot contain, before memory is
/// allocated for them.
fn check_sizes(file_bytes: u64, data: &H5Dataset, numbers: Option<u64>) -> Result<(), String> {
    let read = |error: hdf5_pure::Error| error.to_string();
    let too_much = || "it declares more than the file can hold".to_owned();
    let number_bytes = data.element_size().map_err(read)?;
    if number_bytes > 8 {
        return Err(format!("its numbers have {number_bytes} bytes each"));
    }
    let fits = |numbers: Option<u64>| {
        numbers
            .and_then(|n| n.checked_mul(number_bytes))
            .is_some_and(|bytes| bytes / MAX_EXPANSION <= file_bytes)
    };
    let Some(chunk_shape) = data.chunk_shape().map_err(read)? else {
        return if fits(numbers) { Ok(()) } else { Err(too_much()) };
    };
    let chunk_numbers = chunk_shape.iter().try_fold(1u64, |product, &side| product.checked_mul(side));
    if !fits(numbers) || !fits(chunk_numbers) {
        return Err(too_much());
    }
    for chunk in data.chunks().map_err(read)? {
        if chunk.address.checked_add(chunk.storage_size).is_none_or(|end| end > file_bytes) {
            return Err("a chunk lies outside the file".into());
        }
    }
    Ok(())
}

/// An HDF5 dataset of one or two dimensions.
pub(super) struct Column {
    pub name: String,
    data: H5Dataset,
    pub rows: u64,
    pub width: usize,
}

impl Column {
    /// Opens a column after checking its shape and type; the error explains why it is not a column
    /// of numbers.
    pub fn open(file: &File, name: &str, data: H5Dataset) -> Result<Self, String> {
        let shape = data.shape().map_err(|error| format!("'{name}': {error}"))?;
        let (rows, width) = match shape[..] {
            [rows] => (rows, 1),
            [rows, width] => (rows, width),
            _ => return Err(format!("'{name}' has shape {shape:?}, not one or two dimensions")),
        };
        use DType::{Enum, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        match data.dtype().map_err(|error| format!("'{name}': {error}"))? {
            F32 | F64 | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | Enum(_) => {}
            other => return Err(format!("the type {other} of '{name}' is not numeric")),
        }
        check_sizes(file.file_size(), &data, rows.checked_mul(width))
            .map_err(|problem| format!("'{name}': {problem}"))?;
        let width = usize::try_from(width).map_err(|_| format!("'{name}' is too wide"))?;
        Ok(Self { name: name.to_owned(), data, rows, width })
    }

    /// Reads up to `count` rows from `start` on.
    pub fn read(&self, start: u64, count: u64) -> Result<Vec<f32>, String> {
        let count = count.min(self.rows.saturating_sub(start));
        let values =
            self.data.read_f32_rows(start, count).map_err(|error| format!("'{}': {error}", self.name))?;
        if values.len() as u64 == count * self.width as u64 {
            return Ok(values);
        }
        let end = start + values.len() as u64 / self.width.max(1) as u64;
        Err(format!("'{}' ends at row {end}", self.name))
    }

    /// Returns the name without its groups.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Returns whether this is a requested extra column with `states` rows.
    pub fn is_extra(&self, states: u64, options: &ReadOptions) -> bool {
        self.rows == states && self.width > 0 && options.wants_extra(self.short_name())
    }

    /// Reads all rows.
    pub fn read_all(&self) -> Result<Vec<f32>, String> {
        self.read(0, self.rows)
    }
}
