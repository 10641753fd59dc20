//! A reader of tables as text that bounds the size of a record.
//!
//! A parser of CSV holds a whole record in memory, and a quotation mark without a partner makes the
//! rest of a file one record.

use std::io::{self, Read};

/// The maximum size of a record. Every byte can be a field, for which a parser holds eight more.
const MAX_RECORD_BYTES: u64 = 4 << 20;
/// The maximum number of columns: memory is allocated for each, however short its name.
const MAX_COLUMNS: usize = 100_000;

/// Counts the bytes since the last record.
#[derive(Debug)]
pub(crate) struct BoundedRecords<R> {
    reader: R,
    bytes: u64,
}

impl<R> BoundedRecords<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, bytes: 0 }
    }

    /// Notes that a record is complete. What the parser has read ahead counts for no record.
    pub fn next_record(&mut self) {
        self.bytes = 0;
    }
}

impl<R: Read> Read for BoundedRecords<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.bytes > MAX_RECORD_BYTES {
            let problem = format!(
                "a record has more than {} MiB; perhaps a quotation mark is not closed",
                MAX_RECORD_BYTES >> 20
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let read = self.reader.read(into)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Returns what is wrong with a number of columns, if anything.
pub(crate) fn check_columns(columns: usize) -> Result<(), String> {
    if columns > MAX_COLUMNS {
        return Err(format!("it has {columns} columns; up to {MAX_COLUMNS} can be read"));
    }
    Ok(())
}
