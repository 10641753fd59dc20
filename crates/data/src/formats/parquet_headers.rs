//! Headers of the pages of a Parquet file, checked before the `parquet` crate reads them; see
//! [`thrift`].

use super::{
    parquet::{declared_limit, too_much},
    thrift,
};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use std::{
    io::{BufReader, Read, Seek, SeekFrom},
    ops::Range,
};

/// The fields of a page's header with the sizes of the page in memory and in the file.
const PAGE_BYTES_FIELDS: [i64; 2] = [2, 3];
/// More than most headers of pages have.
const HEADER_BYTES: usize = 256;

/// Checks the headers of the pages of chosen columns. The rest of a page is not read.
pub(crate) fn check_pages(
    file: &mut (impl Read + Seek),
    metadata: &ArrowReaderMetadata,
    groups: Range<usize>,
    is_chosen: impl Fn(usize) -> bool,
) -> Result<(), String> {
    let file_bytes = file.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
    // Columns do not overlap, so that all headers together fit in the file.
    let mut header_bytes = 0u64;
    for group in metadata.metadata().row_groups().get(groups).unwrap_or_default() {
        // A page is expanded into memory of the size in its header; columns are read together.
        let mut expanded_bytes = 0u64;
        for (_, column) in group.columns().iter().enumerate().filter(|(leaf, _)| is_chosen(*leaf)) {
            let (start, length) = column.byte_range();
            let fail = |problem: String| format!("column '{}': {problem}", column.column_path().string());
            let pages = check_headers(file, start, length, file_bytes - header_bytes)
                .map_err(|error| fail(error.to_string()))?;
            header_bytes += pages.header_bytes;
            expanded_bytes = expanded_bytes.saturating_add(pages.expanded_bytes);
            if expanded_bytes > declared_limit(file_bytes) {
                return Err(fail(too_much(file_bytes)));
            }
        }
    }
    Ok(())
}

/// The sizes of the pages of a column.
#[derive(Debug, Default, PartialEq)]
struct Pages {
    /// Those of their headers in the file.
    header_bytes: u64,
    /// Those of their values in memory.
    expanded_bytes: u64,
}

/// Checks the headers of the pages between two places of a file, which have at most `limit` bytes.
fn check_headers(
    file: &mut (impl Read + Seek),
    start: u64,
    length: u64,
    limit: u64,
) -> std::io::Result<Pages> {
    let (mut at, end, mut pages) = (start, start.saturating_add(length), Pages::default());
    while at < end {
        file.seek(SeekFrom::Start(at))?;
        let reader = BufReader::with_capacity(HEADER_BYTES, &mut *file);
        let header = thrift::check(reader, PAGE_BYTES_FIELDS)?;
        let [expanded, page] = header.integers.map(|bytes| u64::try_from(bytes?).ok());
        let (Some(expanded), Some(page)) = (expanded, page) else {
            return Err(std::io::Error::other("a page without a size"));
        };
        at = at.saturating_add(header.bytes).saturating_add(page);
        pages.header_bytes += header.bytes;
        pages.expanded_bytes = pages.expanded_bytes.saturating_add(expanded);
        if pages.header_bytes > limit {
            return Err(std::io::Error::other("its pages overlap those of other columns"));
        }
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A header with the sizes of its page in memory and in the file, and a list of flags of field
    /// 20.
    fn header(page: u8, flags: u8) -> Vec<u8> {
        vec![0x25, 10 << 1, 0x15, page << 1, 0x09, 40, 0xf1, flags, 0]
    }

    #[test]
    fn headers_of_pages_are_checked() {
        let pages = [header(2, 1), b"ab".to_vec(), header(0, 1)].concat();
        let check = |bytes: &[u8], limit: u64| {
            let mut file = Cursor::new([b"PAR1", bytes].concat());
            check_headers(&mut file, 4, bytes.len() as u64, limit).map_err(|error| error.to_string())
        };
        assert_eq!(check(&pages, 18), Ok(Pages { header_bytes: 18, expanded_bytes: 20 }));
        assert!(check(&pages, 17).unwrap_err().contains("overlap"));
        let many = [header(2, 1), b"ab".to_vec(), header(0, 100)].concat();
        assert!(check(&many, 99).unwrap_err().contains("more flags than bytes"));
        assert!(check(&[0], 99).unwrap_err().contains("without a size"));
    }
}
