//! Rows of numbers.

use super::{Header, Kind, NumberType};
use std::io::{Error, ErrorKind, Read};

/// Reads rows of numbers of any type, one after another.
pub(crate) struct Rows<'a> {
    reader: Box<dyn Read + 'a>,
    number: NumberType,
    /// The numbers that have not been read.
    left: u64,
    pub rows: u64,
    pub width: usize,
}

impl<'a> Rows<'a> {
    /// Opens an array of one or two dimensions.
    pub fn open<R: Read + 'a>(mut reader: R) -> Result<Self, String> {
        let Header { descr, is_fortran, shape } = Header::read(&mut reader)?;
        let (rows, width) = match *shape {
            [rows] => (rows, 1),
            [rows, width] => (rows, width),
            _ => return Err(format!("it has shape {shape:?}, not one or two dimensions")),
        };
        if is_fortran && rows > 1 && width > 1 {
            return Err("it is stored column by column; save np.ascontiguousarray(array)".into());
        }
        let number = NumberType::parse(&descr).ok_or_else(|| format!("its type {descr} is not numeric"))?;
        if !number.is_readable() {
            debug_assert_eq!(number.kind, Kind::Float);
            return Err(format!("it has type {descr}; save it with .astype(np.float32)"));
        }
        // The product fits: the header was checked.
        let left = rows * width;
        let width = usize::try_from(width).map_err(|_| "it is too wide".to_owned())?;
        Ok(Self { reader: Box::new(reader), number, left, rows, width })
    }

    /// Returns whether the numbers have the type that is returned.
    pub fn is_float64(&self) -> bool {
        (self.number.kind, self.number.bytes) == (Kind::Float, 8)
    }

    /// Reads the next row into `row`, replacing its contents.
    pub fn next_into(&mut self, row: &mut Vec<f32>) -> std::io::Result<()> {
        row.clear();
        for _ in 0..self.width {
            row.push(self.next_value()? as f32);
        }
        Ok(())
    }

    /// Reads the next number in full precision.
    pub fn next_value(&mut self) -> std::io::Result<f64> {
        let ended = || Error::new(ErrorKind::UnexpectedEof, "the array is truncated");
        self.left = self.left.checked_sub(1).ok_or_else(ended)?;
        self.number.read(&mut self.reader)
    }
}
