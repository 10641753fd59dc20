//! How much a Parquet file may declare.

use super::fixed_sizes;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

/// A file that declares more than this multiple of its size plus `FREE_BYTES` is rejected. Runs of
/// equal values compress without a limit in Parquet, but no dataset consists of them alone.
const MAX_EXPANSION: u64 = 4096;
const FREE_BYTES: u64 = 16 << 20;

/// The most bytes that a file of this size may declare for a column, or for the pages of a row
/// group.
pub(super) fn declared_limit(file_bytes: u64) -> u64 {
    file_bytes.saturating_mul(MAX_EXPANSION).saturating_add(FREE_BYTES)
}

/// The error of a file that declares more than its limit.
pub(super) fn too_much(file_bytes: u64) -> String {
    format!("it declares more than {MAX_EXPANSION} times its size of {file_bytes} bytes")
}

/// Rejects a file that declares many times its size.
pub(crate) fn check_sizes(metadata: &ArrowReaderMetadata, file_bytes: u64) -> Result<(), String> {
    let limit = declared_limit(file_bytes);
    let parquet = metadata.metadata();
    let columns = parquet.file_metadata().schema_descr().num_columns() as u64;
    let rows = u64::try_from(parquet.file_metadata().num_rows()).map_err(|_| "a negative number of rows")?;
    if rows.saturating_mul(4).saturating_mul(columns) > limit {
        return Err(too_much(file_bytes));
    }
    for group in parquet.row_groups() {
        for column in group.columns() {
            let numbers = u64::try_from(column.num_values()).map_err(|_| "a negative number of values")?;
            let bytes = u64::try_from(column.uncompressed_size()).map_err(|_| "a negative size")?;
            if bytes.max(numbers.saturating_mul(4)) > limit {
                return Err(too_much(file_bytes));
            }
        }
    }
    fixed_sizes::check(metadata, limit)
}
