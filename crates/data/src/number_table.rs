//! Tables of integers and vectors in a Parquet file, with texts in its metadata.

use crate::{
    DataError, atomic,
    catch_panics::catch_panic,
    formats::{parquet::unreadable, parquet_footer, parquet_headers, parquet_limits::check_sizes},
    regular_file,
};
use arrow_array::{
    Array as _, ArrayRef, FixedSizeListArray, Float32Array, Int64Array, RecordBatch, UInt64Array,
    cast::AsArray as _,
    types::{Float32Type, Int64Type, UInt64Type},
};
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::{Compression, ZstdLevel},
    file::{metadata::KeyValue, properties::WriterProperties},
};
use std::{
    collections::BTreeMap,
    io::{Cursor, Write as _},
    path::Path,
    sync::Arc,
};

/// The maximum size of a file, which is read into memory.
const MAX_FILE_BYTES: u64 = 8 << 30;

/// A table of numbers that is exact to the bit in a Parquet file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NumberTable {
    /// The columns with their names, all with the same number of rows.
    pub columns: Vec<(String, Numbers)>,
    /// Named texts in the metadata of the file.
    pub texts: BTreeMap<String, String>,
}

/// A column of numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Integers, one per row.
    Integers(Vec<u64>),
    /// Integers with a sign, one per row.
    Signed(Vec<i64>),
    /// Values, one per row.
    Values(Vec<f32>),
    /// `[rows, width]`
    Vectors {
        /// The number of values per row.
        width: usize,
        /// The values in row-major order.
        values: Vec<f32>,
    },
}

impl NumberTable {
    /// Returns the integers of a column; `None` if there is no such column.
    pub fn integers(&self, name: &str) -> Option<&[u64]> {
        self.columns.iter().find_map(|(other, numbers)| match numbers {
            Numbers::Integers(values) if other == name => Some(&values[..]),
            _ => None,
        })
    }

    /// Returns the signed integers of a column; `None` if there is no such column.
    pub fn signed(&self, name: &str) -> Option<&[i64]> {
        self.columns.iter().find_map(|(other, numbers)| match numbers {
            Numbers::Signed(values) if other == name => Some(&values[..]),
            _ => None,
        })
    }

    /// Returns the values of a column; `None` if there is no such column.
    pub fn values(&self, name: &str) -> Option<&[f32]> {
        self.columns.iter().find_map(|(other, numbers)| match numbers {
            Numbers::Values(values) if other == name => Some(&values[..]),
            _ => None,
        })
    }

    /// Returns the vectors of a column, `[rows, width]`; `None` if there is no such column.
    pub fn vectors(&self, name: &str, width: usize) -> Option<&[f32]> {
        self.columns.iter().find_map(|(other, numbers)| match numbers {
            Numbers::Vectors { width: found, values } if other == name && *found == width => {
                Some(&values[..])
            }
            _ => None,
        })
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// If the file cannot be written, or columns have different numbers of rows.
    pub fn write(&self, path: &Path) -> Result<(), DataError> {
        let bytes = self.to_bytes(path)?;
        let write = || {
            let mut file = atomic::create(path)?;
            file.write_all(&bytes)?;
            atomic::commit(file, path)
        };
        write().map_err(DataError::write(path))
    }

    /// Returns the bytes of the file; errors name `path`.
    ///
    /// # Errors
    /// If columns have different numbers of rows.
    pub fn to_bytes(&self, path: &Path) -> Result<Vec<u8>, DataError> {
        let array = |numbers: &Numbers| -> Result<ArrayRef, DataError> {
            Ok(match numbers {
                Numbers::Integers(values) => Arc::new(UInt64Array::from_iter_values(values.iter().copied())),
                Numbers::Signed(values) => Arc::new(Int64Array::from_iter_values(values.iter().copied())),
                Numbers::Values(values) => Arc::new(Float32Array::from_iter_values(values.iter().copied())),
                Numbers::Vectors { width, values } => {
                    let field = Arc::new(Field::new("item", DataType::Float32, false));
                    let values = Arc::new(Float32Array::from_iter_values(values.iter().copied()));
                    let width = i32::try_from(*width).map_err(DataError::refused(path))?;
                    Arc::new(
                        FixedSizeListArray::try_new(field, width, values, None)
                            .map_err(DataError::refused(path))?,
                    )
                }
            })
        };
        let columns: Vec<(&str, ArrayRef)> = self
            .columns
            .iter()
            .map(|(name, numbers)| Ok((name.as_str(), array(numbers)?)))
            .collect::<Result<_, DataError>>()?;
        let batch = RecordBatch::try_from_iter(columns).map_err(DataError::refused(path))?;
        let texts = self.texts.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(texts))
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))
            .map_err(DataError::refused(path))?;
        writer.write(&batch).map_err(DataError::refused(path))?;
        writer.into_inner().map_err(DataError::refused(path))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read, or has columns of other types.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let bytes = regular_file::read_at_most(path, MAX_FILE_BYTES).map_err(DataError::read(path))?;
        Self::from_bytes(path, bytes)
    }

    /// Reads the bytes of a file; errors name `path`.
    ///
    /// # Errors
    /// If they are not a Parquet file, or it has columns of other types.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, DataError> {
        let fail = |problem: String| unreadable(path, &problem);
        let (size, bytes) = (bytes.len() as u64, Bytes::from(bytes));
        let metadata = parquet_footer::load(&bytes).map_err(fail)?;
        check_sizes(&metadata, size).map_err(fail)?;
        let groups = 0..metadata.metadata().num_row_groups();
        catch_panic(|| parquet_headers::check_pages(&mut Cursor::new(&bytes), &metadata, groups, |_| true))
            .map_err(fail)?;
        let texts = metadata.metadata().file_metadata().key_value_metadata().into_iter().flatten();
        let texts = texts.map(|text| (text.key.clone(), text.value.clone().unwrap_or_default())).collect();
        let mut columns: Vec<(String, Numbers)> = Vec::new();
        for field in metadata.schema().fields() {
            let numbers = match field.data_type() {
                DataType::UInt64 => Numbers::Integers(Vec::new()),
                DataType::Int64 => Numbers::Signed(Vec::new()),
                DataType::Float32 => Numbers::Values(Vec::new()),
                DataType::FixedSizeList(item, width) if *item.data_type() == DataType::Float32 => {
                    Numbers::Vectors { width: usize::try_from(*width).unwrap_or(0), values: Vec::new() }
                }
                other => return Err(fail(format!("column '{}' has the type {other}", field.name()))),
            };
            columns.push((field.name().clone(), numbers));
        }
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata);
        let mut batches = catch_panic(|| builder.build()).map_err(fail)?;
        while let Some(batch) = catch_panic(|| batches.next().transpose()).map_err(fail)? {
            for ((name, numbers), array) in columns.iter_mut().zip(batch.columns()) {
                if array.null_count() > 0 {
                    return Err(fail(format!("column '{name}' has missing values")));
                }
                match numbers {
                    Numbers::Integers(values) => values.extend(array.as_primitive::<UInt64Type>().values()),
                    Numbers::Signed(values) => values.extend(array.as_primitive::<Int64Type>().values()),
                    Numbers::Values(values) => values.extend(array.as_primitive::<Float32Type>().values()),
                    Numbers::Vectors { values, .. } => {
                        let list = array.as_fixed_size_list().values();
                        values.extend(list.as_primitive::<Float32Type>().values());
                    }
                }
            }
        }
        Ok(Self { columns, texts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_exact_and_corrupt_ones_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.parquet");
        let values = vec![0.1, f32::MIN_POSITIVE, f32::INFINITY, -0.0, 1e38, 3.0];
        let table = NumberTable {
            columns: vec![
                ("id".into(), Numbers::Integers(vec![u64::MAX, 0, 7])),
                ("state".into(), Numbers::Vectors { width: 2, values }),
                ("frame".into(), Numbers::Signed(vec![-1, i64::MAX, 0])),
                ("progress".into(), Numbers::Values(vec![0.5, f32::INFINITY, 1.0])),
            ],
            texts: BTreeMap::from([("isochrone:key".into(), "a text".into())]),
        };
        table.write(&path).unwrap();
        let found = NumberTable::read(&path).unwrap();
        assert_eq!((&found.columns, &found.texts["isochrone:key"]), (&table.columns, &"a text".to_owned()));
        assert_eq!(found.integers("id"), Some(&[u64::MAX, 0, 7][..]));
        assert_eq!((found.vectors("state", 3), found.integers("state")), (None, None));
        let bytes = std::fs::read(&path).unwrap();
        for end in [0, 3, bytes.len() / 2, bytes.len() - 1] {
            let error = NumberTable::from_bytes(&path, bytes[..end].to_vec()).unwrap_err().to_string();
            assert!(error.contains("table.parquet") && error.contains("hint:"), "{error}");
        }
        let uneven = NumberTable {
            columns: vec![("a".into(), Numbers::Integers(vec![1])), ("b".into(), Numbers::Integers(vec![]))],
            ..NumberTable::default()
        };
        assert!(uneven.write(&path).is_err());
    }
}
