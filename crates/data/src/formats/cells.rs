//! The columns of Arrow tables: numbers, strings, and lists of numbers of the same length. Shared
//! by Parquet files and tables in memory.

use super::columns::{Chunk, TableColumn};
use crate::DataError;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, GenericListArray, OffsetSizeTrait, PrimitiveArray,
    cast::AsArray,
    types::{
        ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
        TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
        UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::{DataType, Field, TimeUnit};

pub(crate) const HINT: &str =
    "columns hold numbers, strings, or lists of numbers that all have the same length";
/// The number of values of missing lists that may be filled in at a time.
const MAX_FILLED_IN: usize = 1 << 20;

/// Describes a column; `first_length` returns the length of its first list that is not missing.
pub(super) fn column(
    field: &Field,
    first_length: impl FnOnce() -> Result<Option<usize>, DataError>,
) -> Result<TableColumn, DataError> {
    let (width, is_text, problem) = match field.data_type() {
        kind if is_text(kind) => (1, true, None),
        DataType::Dictionary(_, value) if is_text(value) => (1, true, None),
        DataType::List(item) | DataType::LargeList(item) if is_number(item.data_type()) => {
            match first_length()? {
                Some(width) => (width, false, None),
                None => (0, false, Some("its first lists are missing".to_owned())),
            }
        }
        DataType::FixedSizeList(item, width) if is_number(item.data_type()) => {
            (usize::try_from(*width).unwrap_or(0), false, None)
        }
        kind if is_number(kind) => (1, false, None),
        kind => (1, false, Some(format!("its type {kind} is not numeric"))),
    };
    Ok(TableColumn { name: field.name().clone(), width, is_text, problem })
}

/// Returns the length of the first list that is not missing; lists of other lengths are detected
/// when they are read.
pub(super) fn first_length(array: &ArrayRef) -> Option<usize> {
    fn first<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Option<usize> {
        lists.iter().flatten().next().map(|list| list.len())
    }
    match array.data_type() {
        DataType::List(_) => first::<i32>(array.as_list()),
        DataType::LargeList(_) => first::<i64>(array.as_list()),
        _ => None,
    }
}

/// Returns rows of some columns; the episode column, which is marked, is converted to strings.
pub(super) fn chunk<'a>(
    rows: usize,
    columns: impl Iterator<Item = (&'a TableColumn, &'a ArrayRef, bool)>,
) -> Result<Chunk, String> {
    let mut chunk = Chunk { rows, numbers: Vec::new(), episodes: Vec::new() };
    for (column, array, is_episode) in columns {
        let fail = |problem: String| format!("column '{}': {problem}", column.name);
        let mut numbers = Vec::new();
        if is_episode {
            chunk.episodes = strings(array).map_err(fail)?;
        } else {
            numbers = vectors(array, column.width).map_err(fail)?;
        }
        chunk.numbers.push(numbers);
    }
    Ok(chunk)
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_number(kind: &DataType) -> bool {
    kind.is_integer() || kind.is_floating() || matches!(kind, DataType::Boolean | DataType::Timestamp(..))
}

/// Returns values as strings, integers with all their digits.
pub(crate) fn strings(array: &ArrayRef) -> Result<Vec<String>, String> {
    fn of<'a, T: ToString + 'a>(values: impl Iterator<Item = Option<T>>) -> Vec<String> {
        values.map(|value| value.map_or_else(String::new, |value| value.to_string())).collect()
    }
    Ok(match array.data_type() {
        DataType::Utf8 => of(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => of(array.as_string::<i64>().iter()),
        DataType::Utf8View => of(array.as_string_view().iter()),
        DataType::Int64 => of(array.as_primitive::<Int64Type>().iter()),
        DataType::UInt64 => of(array.as_primitive::<UInt64Type>().iter()),
        // There is no key to normalize.
        DataType::Dictionary(..) if array.as_any_dictionary().values().is_empty() => {
            vec![String::new(); array.len()]
        }
        DataType::Dictionary(..) => {
            let (dictionary, values) =
                (array.as_any_dictionary(), strings(array.as_any_dictionary().values())?);
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            keys.map(|(row, key)| if array.is_null(row) { String::new() } else { values[key].clone() })
                .collect()
        }
        _ => of(numbers(array)?.into_iter().map(Some)),
    })
}

/// Returns rows of some columns side by side as float32, `[rows, sum of widths]`; missing values
/// are NaN.
pub(crate) fn rows_f32<'a>(
    n_rows: usize,
    columns: impl Iterator<Item = (&'a TableColumn, &'a ArrayRef)>,
) -> Result<Vec<f32>, String> {
    let columns: Vec<(&TableColumn, &ArrayRef)> = columns.collect();
    let width = columns.iter().map(|(column, _)| column.width).sum::<usize>();
    let mut rows = vec![0.0; n_rows.checked_mul(width).ok_or("it has too many values")?];
    let mut offset = 0;
    for (column, array) in columns {
        let into = rows.chunks_exact_mut(width.max(1)).map(|row| &mut row[offset..offset + column.width]);
        let fail = |problem: String| format!("column '{}': {problem}", column.name);
        match plain_f32(array) {
            Some(values) if values.len() == n_rows * column.width => {
                into.zip(values.chunks_exact(column.width.max(1)))
                    .for_each(|(to, from)| to.copy_from_slice(from));
            }
            _ => {
                let values = vectors(array, column.width).map_err(fail)?;
                for (to, from) in into.zip(values.chunks_exact(column.width.max(1))) {
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from as f32);
                }
            }
        }
        offset += column.width;
    }
    Ok(rows)
}

/// Returns the values of a column that holds nothing but float32, which most columns of states do.
fn plain_f32(array: &ArrayRef) -> Option<&[f32]> {
    if array.null_count() > 0 {
        return None;
    }
    match array.data_type() {
        DataType::Float32 => Some(array.as_primitive::<Float32Type>().values()),
        DataType::FixedSizeList(..) => plain_f32(array.as_fixed_size_list().values()),
        _ => None,
    }
}

/// Returns the rows at which a value differs from that of the row before; the first row is one of
/// them.
pub(crate) fn changes(array: &ArrayRef) -> Result<Vec<usize>, String> {
    fn of<T: PartialEq>(values: &[T]) -> Vec<usize> {
        (0..values.len()).filter(|&row| row == 0 || values[row] != values[row - 1]).collect()
    }
    // Strings of numbers would take longer than everything else.
    Ok(match array.data_type() {
        DataType::Int64 if array.null_count() == 0 => of(array.as_primitive::<Int64Type>().values()),
        DataType::Int32 if array.null_count() == 0 => of(array.as_primitive::<Int32Type>().values()),
        DataType::UInt64 if array.null_count() == 0 => of(array.as_primitive::<UInt64Type>().values()),
        DataType::UInt32 if array.null_count() == 0 => of(array.as_primitive::<UInt32Type>().values()),
        _ => of(&strings(array)?),
    })
}

/// Returns `[rows, width]` values; missing ones are NaN.
fn vectors(array: &ArrayRef, width: usize) -> Result<Vec<f64>, String> {
    match array.data_type() {
        DataType::List(_) => lists::<i32>(array.as_list(), width),
        DataType::LargeList(_) => lists::<i64>(array.as_list(), width),
        DataType::FixedSizeList(..) => {
            let list: &FixedSizeListArray = array.as_fixed_size_list();
            let mut values = numbers(list.values())?;
            for row in (0..list.len()).filter(|&row| list.is_null(row)) {
                values[row * width..(row + 1) * width].fill(f64::NAN);
            }
            Ok(values)
        }
        _ => numbers(array),
    }
}

fn lists<O: OffsetSizeTrait>(array: &GenericListArray<O>, width: usize) -> Result<Vec<f64>, String> {
    let values = numbers(array.values())?;
    // Missing lists are filled in here, and must not be many times as large as the data.
    if array.len().saturating_mul(width) > MAX_FILLED_IN.max(4 * values.len()) {
        return Err(format!("lists of {width} numbers are missing nearly everywhere"));
    }
    let mut rows = Vec::with_capacity(array.len() * width);
    for row in 0..array.len() {
        if array.is_null(row) {
            rows.resize(rows.len() + width, f64::NAN);
            continue;
        }
        let (from, to) = (array.value_offsets()[row].as_usize(), array.value_offsets()[row + 1].as_usize());
        if to - from != width {
            return Err(format!("a list has {} numbers, but the first has {width}", to - from));
        }
        rows.extend(&values[from..to]);
    }
    Ok(rows)
}

fn numbers(array: &ArrayRef) -> Result<Vec<f64>, String> {
    fn of<T: ArrowPrimitiveType>(array: &ArrayRef, to_f64: impl Fn(T::Native) -> f64) -> Vec<f64> {
        let array: &PrimitiveArray<T> = array.as_primitive();
        array.iter().map(|value| value.map_or(f64::NAN, &to_f64)).collect()
    }
    Ok(match array.data_type() {
        DataType::Float16 => of::<Float16Type>(array, f64::from),
        DataType::Float32 => of::<Float32Type>(array, f64::from),
        DataType::Float64 => of::<Float64Type>(array, |value| value),
        DataType::Int8 => of::<Int8Type>(array, f64::from),
        DataType::Int16 => of::<Int16Type>(array, f64::from),
        DataType::Int32 => of::<Int32Type>(array, f64::from),
        DataType::Int64 => of::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => of::<UInt8Type>(array, f64::from),
        DataType::UInt16 => of::<UInt16Type>(array, f64::from),
        DataType::UInt32 => of::<UInt32Type>(array, f64::from),
        DataType::UInt64 => of::<UInt64Type>(array, |value| value as f64),
        DataType::Boolean => {
            let array: &BooleanArray = array.as_boolean();
            array.iter().map(|value| value.map_or(f64::NAN, |value| f64::from(u8::from(value)))).collect()
        }
        // Points in time, in seconds.
        DataType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(array, |value| value as f64),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            of::<TimestampMillisecondType>(array, |value| value as f64 / 1e3)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            of::<TimestampMicrosecondType>(array, |value| value as f64 / 1e6)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            of::<TimestampNanosecondType>(array, |value| value as f64 / 1e9)
        }
        other => return Err(format!("its type {other} is not numeric")),
    })
}
