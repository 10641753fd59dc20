//! Matrices and tables of numbers that are not datasets, to exchange data with other programs.

pub use crate::number_table::{NumberTable, Numbers};
use crate::{
    DataError, atomic,
    bounded_records::{BoundedRecords, check_columns},
    npy::{self, Rows},
    regular_file,
};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};
use std::{
    io::{BufReader, BufWriter, Write as _},
    path::Path,
    sync::Arc,
};

/// The maximum number of values of a matrix (2 GiB): larger ones would not fit in the memory of
/// many machines.
const MAX_VALUES: u64 = 1 << 28;

/// A matrix of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// `[rows, width]` in row-major order.
    pub values: Vec<f64>,
    /// The number of values per row.
    pub width: usize,
    /// The names of the columns; empty if the file has none.
    pub names: Vec<String>,
}

/// A column of a table to write.
#[derive(Debug, Clone, PartialEq)]
pub enum Column<'a> {
    /// Strings, one per row.
    Texts(Vec<&'a str>),
    /// Numbers, one per row.
    Numbers(Vec<f64>),
}

impl Matrix {
    /// Reads a `.npy` array of one or two dimensions and any numeric type, or a `.csv` table of
    /// numbers with or without a header line.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, holds anything else, or has more than 2^28
    /// numbers.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let extension =
            path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("npy") => Self::read_npy(path),
            Some("csv") => Self::read_csv(path),
            _ => {
                let problem = "its file name does not show whether it is an array or a table";
                Err(DataError::malformed(path, problem, "give a file whose name ends in .npy or .csv"))
            }
        }
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    fn read_npy(path: &Path) -> Result<Self, DataError> {
        let fail = |problem: String| {
            DataError::malformed(path, problem, "save a plain array [rows, columns] of numbers with np.save")
        };
        let file = regular_file::open(path).map_err(DataError::read(path))?;
        let bytes = file.metadata().map_err(DataError::read(path))?.len();
        let mut rows = Rows::open(BufReader::with_capacity(1 << 16, file)).map_err(fail)?;
        if rows.width == 0 {
            return Err(fail("it has no column".into()));
        }
        let declared = rows.rows.saturating_mul(rows.width as u64);
        check_size(path, declared)?;
        // A number takes at least one byte, so the file cannot hold more numbers than bytes.
        let mut values = Vec::with_capacity(declared.min(bytes) as usize);
        for number in 0..rows.rows {
            for _ in 0..rows.width {
                values.push(rows.next_value().map_err(|error| fail(format!("row {number}: {error}")))?);
            }
        }
        Ok(Self { values, width: rows.width, names: Vec::new() })
    }

    fn read_csv(path: &Path) -> Result<Self, DataError> {
        let fail = |problem: String| {
            DataError::malformed(
                path,
                problem,
                "every line of a table has numbers, except for the first, which may name the columns",
            )
        };
        let file = regular_file::open(path).map_err(DataError::read(path))?;
        let records = BoundedRecords::new(BufReader::new(file));
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(records);
        let (mut matrix, mut record) = (Self::default(), csv::StringRecord::new());
        for line in 0.. {
            if !reader.read_record(&mut record).map_err(|error| fail(error.to_string()))? {
                break;
            }
            reader.get_mut().next_record();
            check_columns(record.len()).map_err(fail)?;
            matrix.width = record.len();
            let numbers: Option<Vec<f64>> = record.iter().map(|field| field.trim().parse().ok()).collect();
            match numbers {
                Some(numbers) => matrix.values.extend(numbers),
                None if line == 0 => {
                    matrix.names = record.iter().map(|name| name.trim().to_owned()).collect();
                }
                None => return Err(fail(format!("line {}: not all fields are numbers", line + 1))),
            }
            check_size(path, matrix.values.len() as u64)?;
        }
        Ok(matrix)
    }
}

fn check_size(path: &Path, values: u64) -> Result<(), DataError> {
    if values > MAX_VALUES {
        let problem = format!("it has {values} numbers, more than {MAX_VALUES}");
        return Err(DataError::malformed(path, problem, "give fewer rows, for example every tenth"));
    }
    Ok(())
}

/// Writes a float64 array of any shape as `.npy`, atomically.
///
/// # Errors
/// Returns an error if the file cannot be written.
///
/// # Panics
/// Panics if the number of values does not match the shape.
pub fn write_npy(path: &Path, shape: &[usize], values: &[f64]) -> Result<(), DataError> {
    assert_eq!(shape.iter().product::<usize>(), values.len(), "the shape matches the number of values");
    let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let write = || {
        let mut file = BufWriter::new(atomic::create(path)?);
        npy::write(&mut file, &shape, values)?;
        file.flush()?;
        atomic::commit(file.into_inner().map_err(std::io::IntoInnerError::into_error)?, path)
    };
    write().map_err(DataError::write(path))
}

/// Writes named columns of equal length as a Parquet table, atomically.
///
/// # Errors
/// Returns an error if the file cannot be written, or the columns have different lengths.
pub fn write_parquet(path: &Path, columns: &[(&str, Column<'_>)]) -> Result<(), DataError> {
    let array = |column: &Column<'_>| -> ArrayRef {
        match column {
            Column::Texts(texts) => Arc::new(StringArray::from_iter_values(texts)),
            Column::Numbers(numbers) => Arc::new(Float64Array::from_iter_values(numbers.iter().copied())),
        }
    };
    let batch = RecordBatch::try_from_iter(columns.iter().map(|(name, column)| (*name, array(column))))
        .map_err(DataError::refused(path))?;
    let file = atomic::create(path).map_err(DataError::write(path))?;
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer =
        ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(DataError::refused(path))?;
    writer.write(&batch).map_err(DataError::refused(path))?;
    let file = writer.into_inner().map_err(DataError::refused(path))?;
    atomic::commit(file, path).map_err(DataError::write(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Format, ReadOptions};

    #[test]
    fn arrays_round_trip_and_tables_have_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix.npy");
        write_npy(&path, &[2, 3], &[1.0, 2.5, f64::INFINITY, -4.0, 1e300, 0.1]).unwrap();
        let matrix = Matrix::read(&path).unwrap();
        assert_eq!((matrix.n_rows(), matrix.width), (2, 3));
        assert_eq!(matrix.values, [1.0, 2.5, f64::INFINITY, -4.0, 1e300, 0.1]);
        let path = folder.path().join("table.csv");
        std::fs::write(&path, "x, y\n1,2\n3,4.5\n").unwrap();
        let matrix = Matrix::read(&path).unwrap();
        assert_eq!((matrix.names.join(" "), matrix.values), ("x y".into(), vec![1.0, 2.0, 3.0, 4.5]));
        std::fs::write(&path, "1,2\n3,4.5\n").unwrap();
        assert_eq!(Matrix::read(&path).unwrap().n_rows(), 2);
    }

    #[test]
    fn malformed_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix.npy");
        write_npy(&path, &[3], &[1.0, 2.0, 3.0]).unwrap();
        let intact = std::fs::read(&path).unwrap();
        std::fs::write(&path, &intact[..intact.len() - 1]).unwrap();
        assert!(Matrix::read(&path).unwrap_err().to_string().contains("row 2"));
        for shape in ["(99999999, 2)", "(9999999, 99999999)"] {
            let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((header.len() as u16).to_le_bytes());
            bytes.extend(header.as_bytes());
            std::fs::write(&path, bytes).unwrap();
            assert!(Matrix::read(&path).unwrap_err().to_string().contains("hint:"));
        }
        let path = folder.path().join("table.csv");
        for text in ["x,y\n1,2\n3\n", "x,y\n1,two\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(Matrix::read(&path).unwrap_err().to_string().contains("table.csv"), "{text}");
        }
        assert!(Matrix::read(&folder.path().join("matrix.txt")).is_err());
    }

    #[test]
    fn parquet_tables_are_read_by_our_own_reader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.parquet");
        let columns = [
            ("episode", Column::Texts(vec!["a", "a", "b", "b"])),
            ("obs_x", Column::Numbers(vec![1.0, 2.0, 3.0, 4.5])),
        ];
        write_parquet(&path, &columns).unwrap();
        let mut builder = crate::DatasetBuilder::default();
        Format::Parquet.read(&path, &ReadOptions::default(), &mut builder).unwrap();
        let data = builder.finish();
        assert_eq!((data.n_episodes(), data.episode(1).observations), (2, &[3.0, 4.5][..]));
        let columns = [("a", Column::Numbers(vec![1.0])), ("b", Column::Numbers(vec![]))];
        assert!(write_parquet(&path, &columns).is_err());
    }
}
