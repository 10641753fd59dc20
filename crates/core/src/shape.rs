//! Shape checks of arguments that are row-major slices.

use thiserror::Error;

/// An argument whose length does not match the width of a distance, a policy or an environment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The length of the argument is not a multiple of the width.
    #[error(
        "`{argument}` has {numbers} numbers, which is not a multiple of the width {width}; hint: pass {width} numbers per row"
    )]
    NotRows {
        /// The name of the argument.
        argument: &'static str,
        /// Its length.
        numbers: usize,
        /// The width of a row.
        width: usize,
    },
    /// The argument is not exactly one row.
    #[error("`{argument}` has {numbers} numbers, not {width}; hint: pass one row of width {width}")]
    NotOneRow {
        /// The name of the argument.
        argument: &'static str,
        /// Its length.
        numbers: usize,
        /// The width of a row.
        width: usize,
    },
    /// Two arguments that are paired row by row have different numbers of rows.
    #[error(
        "`{argument}` has {rows} rows of width {width} and `{other}` has {other_rows}; hint: pass the same number of rows in both"
    )]
    RowCounts {
        /// The name of the first argument.
        argument: &'static str,
        /// The number of rows of the first argument.
        rows: usize,
        /// The name of the second argument.
        other: &'static str,
        /// The number of rows of the second argument.
        other_rows: usize,
        /// The width of a row.
        width: usize,
    },
}

impl ShapeError {
    /// Panics with this error as the message, as the required methods of
    /// [`TemporalDistance`](crate::TemporalDistance) and [`GoalPolicy`](crate::GoalPolicy) do:
    /// `check_pairs(..).unwrap_or_else(ShapeError::panic)`.
    ///
    /// # Panics
    /// Always.
    #[track_caller]
    pub fn panic<T>(self) -> T {
        panic!("{self}")
    }
}

/// Returns the number of rows of `values`; errors call it `argument`.
///
/// # Errors
/// If the length of `values` is not a multiple of `width`.
pub fn check_rows(argument: &'static str, values: &[f32], width: usize) -> Result<usize, ShapeError> {
    let numbers = values.len();
    if !numbers.is_multiple_of(width) {
        return Err(ShapeError::NotRows { argument, numbers, width });
    }
    Ok(numbers.checked_div(width).unwrap_or(0))
}

/// Checks that `values` is exactly one row.
///
/// # Errors
/// If its length is not `width`.
pub fn check_row(argument: &'static str, values: &[f32], width: usize) -> Result<(), ShapeError> {
    if values.len() != width {
        return Err(ShapeError::NotOneRow { argument, numbers: values.len(), width });
    }
    Ok(())
}

/// Returns the number of pairs of rows of two arguments, each given with its name.
///
/// # Errors
/// If the length of one is not a multiple of `width`, or the numbers of rows differ.
pub fn check_pairs(
    (argument, values): (&'static str, &[f32]),
    (other, other_values): (&'static str, &[f32]),
    width: usize,
) -> Result<usize, ShapeError> {
    let (rows, other_rows) = (check_rows(argument, values, width)?, check_rows(other, other_values, width)?);
    if rows != other_rows {
        return Err(ShapeError::RowCounts { argument, rows, other, other_rows, width });
    }
    Ok(rows)
}
