//! Checks of the shapes of arguments: flat slices that hold rows of one width.

use thiserror::Error;

/// An argument whose length does not fit the width of a distance, a policy or an environment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The argument is not a whole number of rows.
    #[error(
        "`{argument}` has {numbers} numbers, which are not rows of width {width}; hint: pass {width} numbers for each row"
    )]
    NotRows {
        /// Name of the argument.
        argument: &'static str,
        /// How many numbers it has.
        numbers: usize,
        /// Numbers of a row.
        width: usize,
    },
    /// The argument is not exactly one row.
    #[error("`{argument}` has {numbers} numbers instead of {width}; hint: pass one row of width {width}")]
    NotOneRow {
        /// Name of the argument.
        argument: &'static str,
        /// How many numbers it has.
        numbers: usize,
        /// Numbers of a row.
        width: usize,
    },
    /// Two arguments that are paired row by row differ in their number of rows.
    #[error(
        "`{argument}` has {rows} rows of width {width} and `{other}` has {other_rows}; hint: pass as many rows of both"
    )]
    RowCounts {
        /// Name of the first argument.
        argument: &'static str,
        /// Rows of the first argument.
        rows: usize,
        /// Name of the second argument.
        other: &'static str,
        /// Rows of the second argument.
        other_rows: usize,
        /// Numbers of a row.
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

/// The number of rows of `values`, which is called `argument` in the error.
///
/// # Errors
/// If `values` is not a whole number of rows of this width.
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
/// If it is shorter or longer.
pub fn check_row(argument: &'static str, values: &[f32], width: usize) -> Result<(), ShapeError> {
    if values.len() != width {
        return Err(ShapeError::NotOneRow { argument, numbers: values.len(), width });
    }
    Ok(())
}

/// The number of pairs of rows of two arguments, each given with its name.
///
/// # Errors
/// If one of them is not a whole number of rows, or they do not have equally many.
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
