//! Flags that end episodes, which files store as numbers.

/// Returns whether a flag is set. Zero is not; NaN is no flag.
pub(super) fn is_set(flag: f32) -> Result<bool, &'static str> {
    if flag.is_nan() { Err("NaN is not a flag") } else { Ok(flag != 0.0) }
}
