//! Flags that end episodes, which files store as numbers.

/// Returns whether a flag is set. Zero is not, and NaN is no flag.
pub(super) fn flag(array: &str, row: u64, value: f32) -> Result<bool, String> {
    if value.is_nan() {
        return Err(format!("array '{array}', row {row}: NaN is not a flag"));
    }
    Ok(value != 0.0)
}

/// Returns which flags of an array are set, from a row on.
pub(super) fn flags(array: &str, first_row: u64, values: &[f32]) -> Result<Vec<bool>, String> {
    (first_row..).zip(values).map(|(row, &value)| flag(array, row, value)).collect()
}
