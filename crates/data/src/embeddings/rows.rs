//! Rows of embeddings, as every kind of file has them.

use crate::DataError;
use std::path::Path;

pub(super) const HINT: &str = "embeddings are a .npy array [frames, width], a .parquet table with the columns index and \
                               one list of numbers, or a .safetensors file with one matrix or a vector per frame";
/// The maximum width of a row: a covariance matrix has its square.
const MAX_WIDTH: usize = 4096;

/// A callback that receives the index of a frame and its row.
pub(super) type Visit<'a> = &'a mut dyn FnMut(i64, &[f32]) -> Result<(), DataError>;

/// Rejects rows that are empty or too wide.
pub(super) fn check_width(path: &Path, width: usize) -> Result<(), DataError> {
    match width {
        1..=MAX_WIDTH => Ok(()),
        _ => Err(DataError::malformed(path, format!("rows of {width} numbers, not 1 to {MAX_WIDTH}"), HINT)),
    }
}
