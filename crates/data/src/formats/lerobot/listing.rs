//! Files that list episodes or tasks, of which all is read into memory.

use super::files::HINT;
use crate::DataError;
use parquet::{arrow::arrow_reader::ArrowReaderMetadata, file::metadata::RowGroupMetaData};
use std::path::Path;

/// A file that lists more rows than this multiple of its size plus a constant is rejected. A row of
/// the metadata has many numbers and texts, and takes hundreds of bytes.
const MAX_ROWS_PER_BYTE: u64 = 4;
const FREE_ROWS: u64 = 100_000;
const FREE_VALUES: u64 = 1_000_000;

/// Rejects a list that would take far more memory than its file.
pub(super) fn check(path: &Path, metadata: &ArrowReaderMetadata) -> Result<(), DataError> {
    let bytes = path.metadata().map_err(DataError::read(path))?.len();
    let rows = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(u64::MAX);
    let limit = |free: u64| bytes.saturating_mul(MAX_ROWS_PER_BYTE).saturating_add(free);
    // Columns of lists have more values than rows.
    let most = |group: &RowGroupMetaData| {
        group.columns().iter().map(|column| column.num_values().max(0) as u64).max().unwrap_or(0)
    };
    let values = metadata.metadata().row_groups().iter().map(most).fold(0, u64::saturating_add);
    if rows > limit(FREE_ROWS) || values > limit(FREE_VALUES) {
        let problem = format!("it lists {} values in {bytes} bytes", values.max(rows));
        return Err(DataError::malformed(path, problem, HINT));
    }
    Ok(())
}
