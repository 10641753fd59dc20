//! Headers of the pages of a Parquet file, checked before the `parquet` crate reads them; see
//! [`thrift`].

use super::thrift;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use std::{
    io::{BufReader, Read, Seek, SeekFrom},
    ops::Range,
};

/// The number of the field of a page's header with the size of the page in the file.
const PAGE_BYTES_FIELD: i64 = 3;
/// More than most headers of pages have.
const HEADER_BYTES: usize = 256;

/// Checks the headers of the pages of chosen columns. The rest of a page is not read.
pub(crate) fn check_pages(
    file: &mut (impl Read + Seek),
    metadata: &ArrowReaderMetadata,
    groups: Range<usize>,
    is_chosen: impl Fn(usize) -> bool,
) -> Result<(), String> {
    // Columns do not overlap, so that all headers together fit in the file.
    let mut left = file.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
    for group in metadata.metadata().row_groups().get(groups).unwrap_or_default() {
        for (_, column) in group.columns().iter().enumerate().filter(|(leaf, _)| is_chosen(*leaf)) {
            let (start, length) = column.byte_range();
            let fail = |problem: String| format!("column '{}': {problem}", column.column_path());
            let bytes = check_headers(file, start, length, left).map_err(|error| fail(error.to_string()))?;
            left = left.saturating_sub(bytes);
        }
    }
    Ok(())
}

/// Checks the headers of the pages between two places of a file, and returns the number of their
/// bytes, which is at most `limit`.
fn check_headers(file: &mut (impl Read + Seek), start: u64, length: u64, limit: u64) -> std::io::Result<u64> {
    let (mut at, end, mut header_bytes) = (start, start.saturating_add(length), 0u64);
    while at < end {
        file.seek(SeekFrom::Start(at))?;
        let reader = BufReader::with_capacity(HEADER_BYTES, &mut *file);
        let header = thrift::check(reader, PAGE_BYTES_FIELD)?;
        let page = header.integer.and_then(|bytes| u64::try_from(bytes).ok());
        let page = page.ok_or_else(|| std::io::Error::other("a page without a size"))?;
        at = at.saturating_add(header.bytes).saturating_add(page);
        header_bytes += header.bytes;
        if header_bytes > limit {
            return Err(std::io::Error::other("its pages overlap those of other columns"));
        }
    }
    Ok(header_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A header with the size of its page in the file, and a list of flags of field 20.
    fn header(page: u8, flags: u8) -> Vec<u8> {
        vec![0x35, page << 1, 0x09, 40, 0xf1, flags, 0]
    }

    #[test]
    fn headers_of_pages_are_checked() {
        let pages = [header(2, 1), b"ab".to_vec(), header(0, 1)].concat();
        let check = |bytes: &[u8], limit: u64| {
            let mut file = Cursor::new([b"PAR1", bytes].concat());
            check_headers(&mut file, 4, bytes.len() as u64, limit).map_err(|error| error.to_string())
        };
        assert_eq!(check(&pages, 14), Ok(14));
        assert!(check(&pages, 13).unwrap_err().contains("overlap"));
        let many = [header(2, 1), b"ab".to_vec(), header(0, 100)].concat();
        assert!(check(&many, 99).unwrap_err().contains("more flags than bytes"));
        assert!(check(&[0], 99).unwrap_err().contains("without a size"));
    }
}
