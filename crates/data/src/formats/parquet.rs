//! Parquet tables: numbers, strings, and lists of numbers of the same length.

use super::{
    ReadOptions,
    columns::{self, Chunk, Table, TableColumn, Visit},
};
use crate::{DataError, EpisodeSink, catch_panics::catch_panic};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, GenericListArray, OffsetSizeTrait, PrimitiveArray,
    cast::AsArray,
    types::{
        ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
        UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::DataType;
use parquet::arrow::{
    ProjectionMask,
    arrow_reader::{
        ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    },
};
use std::{
    fmt::Display,
    fs::File,
    path::{Path, PathBuf},
};

const HINT: &str = "columns hold numbers, strings, or lists of numbers that all have the same length";
const CHUNK_ROWS: usize = 1024;
/// A file that declares more than this multiple of its size plus `FREE_BYTES` is rejected. Runs of
/// equal values compress without a limit in Parquet, but no dataset consists of them alone.
const MAX_EXPANSION: u64 = 4096;
const FREE_BYTES: u64 = 16 << 20;
/// The number of values of missing lists that may be filled in at a time.
const MAX_FILLED_IN: usize = 1 << 20;

/// Reads a table.
pub fn read(path: &Path, options: &ReadOptions, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
    let mut table = ParquetTable::open(path)?;
    columns::read(path, &mut table, options, sink)
}

pub(super) struct ParquetTable {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// All columns of the file, in its order.
    columns: Vec<TableColumn>,
}

impl ParquetTable {
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let fail = |problem: String| DataError::malformed(path, problem, HINT);
        let file = File::open(path).map_err(DataError::read(path))?;
        let size = file.metadata().map_err(DataError::read(path))?.len();
        let metadata = catch_panic(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()))
            .map_err(|error| fail(format!("not a readable Parquet file: {error}")))?;
        check_sizes(&metadata, size).map_err(fail)?;
        let mut table = Self { path: path.into(), metadata, columns: Vec::new() };
        let fields = table.metadata.schema().fields().clone();
        for (at, field) in fields.iter().enumerate() {
            let (width, is_text, problem) = match field.data_type() {
                DataType::Utf8 | DataType::LargeUtf8 => (1, true, None),
                DataType::List(item) | DataType::LargeList(item) if is_number(item.data_type()) => {
                    match table.first_length(at)? {
                        Some(width) => (width, false, None),
                        None => (0, false, Some(format!("its first {CHUNK_ROWS} lists are missing"))),
                    }
                }
                DataType::FixedSizeList(item, width) if is_number(item.data_type()) => {
                    (usize::try_from(*width).unwrap_or(0), false, None)
                }
                kind if is_number(kind) => (1, false, None),
                kind => (1, false, Some(format!("its type {kind} is not numeric"))),
            };
            table.columns.push(TableColumn { name: field.name().clone(), width, is_text, problem });
        }
        Ok(table)
    }

    /// Runs code that fails or panics on a corrupt file.
    fn run<T, E: Display>(&self, run: impl FnOnce() -> Result<T, E>) -> Result<T, DataError> {
        catch_panic(run).map_err(|problem| DataError::malformed(&self.path, problem, HINT))
    }

    /// Returns batches of the chosen columns, in the order of the file.
    fn batches(&self, chosen: &[usize]) -> Result<ParquetRecordBatchReader, DataError> {
        let file = File::open(&self.path).map_err(DataError::read(&self.path))?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), chosen.iter().copied());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        self.run(|| builder.with_projection(mask).with_batch_size(CHUNK_ROWS).build())
    }

    /// Returns the length of a column's first list that is not missing; lists of other lengths are
    /// detected when they are read.
    fn first_length(&self, at: usize) -> Result<Option<usize>, DataError> {
        fn first<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Option<usize> {
            lists.iter().flatten().next().map(|list| list.len())
        }
        let mut batches = self.batches(&[at])?;
        let Some(batch) = self.run(|| batches.next().transpose())? else { return Ok(None) };
        Ok(match batch.column(0).data_type() {
            DataType::List(_) => first::<i32>(batch.column(0).as_list()),
            DataType::LargeList(_) => first::<i64>(batch.column(0).as_list()),
            _ => None,
        })
    }
}

fn check_sizes(metadata: &ArrowReaderMetadata, file_bytes: u64) -> Result<(), String> {
    let limit = file_bytes.saturating_mul(MAX_EXPANSION).saturating_add(FREE_BYTES);
    let parquet = metadata.metadata();
    let columns = parquet.file_metadata().schema_descr().num_columns() as u64;
    let rows = u64::try_from(parquet.file_metadata().num_rows()).map_err(|_| "a negative number of rows")?;
    let too_much = || format!("it declares more than {MAX_EXPANSION} times its size of {file_bytes} bytes");
    if rows.saturating_mul(4).saturating_mul(columns) > limit {
        return Err(too_much());
    }
    for group in parquet.row_groups() {
        for column in group.columns() {
            let numbers = u64::try_from(column.num_values()).map_err(|_| "a negative number of values")?;
            let bytes = u64::try_from(column.uncompressed_size()).map_err(|_| "a negative size")?;
            if bytes.max(numbers.saturating_mul(4)) > limit {
                return Err(too_much());
            }
        }
    }
    Ok(())
}

fn is_number(kind: &DataType) -> bool {
    kind.is_integer() || kind.is_floating() || *kind == DataType::Boolean
}

impl Table for ParquetTable {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn read(&mut self, chosen: &[usize], episodes: Option<usize>, rows: Visit<'_>) -> Result<(), DataError> {
        let mut batches = self.batches(chosen)?;
        while let Some(batch) = self.run(|| batches.next().transpose())? {
            let mut chunk = Chunk { rows: batch.num_rows(), numbers: Vec::new(), episodes: Vec::new() };
            // The reader and the chosen columns both keep the order of the file.
            for (&at, array) in chosen.iter().zip(batch.columns()) {
                let column = &self.columns[at];
                let fail = |problem: String| {
                    DataError::malformed(&self.path, format!("column '{}': {problem}", column.name), HINT)
                };
                let mut numbers = Vec::new();
                if Some(at) == episodes {
                    chunk.episodes = strings(array).map_err(fail)?;
                } else {
                    numbers = vectors(array, column.width).map_err(fail)?;
                }
                chunk.numbers.push(numbers);
            }
            rows(&chunk)?;
        }
        Ok(())
    }
}

/// Returns values as strings, integers with all their digits.
fn strings(array: &ArrayRef) -> Result<Vec<String>, String> {
    fn of<'a, T: ToString + 'a>(values: impl Iterator<Item = Option<T>>) -> Vec<String> {
        values.map(|value| value.map_or_else(String::new, |value| value.to_string())).collect()
    }
    Ok(match array.data_type() {
        DataType::Utf8 => of(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => of(array.as_string::<i64>().iter()),
        DataType::Int64 => of(array.as_primitive::<Int64Type>().iter()),
        DataType::UInt64 => of(array.as_primitive::<UInt64Type>().iter()),
        _ => of(numbers(array)?.into_iter().map(Some)),
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
        other => return Err(format!("its type {other} is not numeric")),
    })
}
