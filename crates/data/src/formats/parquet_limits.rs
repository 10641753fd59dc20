//! How much a Parquet file may declare.

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
