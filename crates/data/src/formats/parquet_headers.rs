//! Headers of the pages of a Parquet file, checked before the `parquet` crate reads them: it skips
//! what it does not know, for as long as a header declares.

use super::{
    parquet_layout::{DICTIONARY, PAGE_HEADER, pass_field},
    parquet_limits::{declared_limit, too_much},
    thrift::{CompactReader, WireType},
};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use std::{
    io::{BufReader, Read, Seek, SeekFrom},
    ops::Range,
};

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
        let header = header(BufReader::with_capacity(HEADER_BYTES, &mut *file))?;
        at = at.saturating_add(header.bytes).saturating_add(header.page_bytes);
        pages.header_bytes += header.bytes;
        pages.expanded_bytes = pages.expanded_bytes.saturating_add(header.expanded_bytes);
        if pages.header_bytes > limit {
            return Err(std::io::Error::other("its pages overlap those of other columns"));
        }
    }
    Ok(pages)
}

/// The sizes in the header of a page, and its own.
struct Header {
    bytes: u64,
    /// The size of the page in memory.
    expanded_bytes: u64,
    /// The size of the page in the file.
    page_bytes: u64,
}

fn header(reader: impl Read) -> std::io::Result<Header> {
    let mut reader = CompactReader::strict(reader);
    let (mut number, mut expanded, mut page, mut entries) = (0, None, None, Some(0));
    while let Some(kind) = reader.field(&mut number)? {
        match (number, kind) {
            (2, WireType::Integer) => expanded = Some(reader.integer()?),
            (3, WireType::Integer) => page = Some(reader.integer()?),
            (7, WireType::Struct) => entries = dictionary_entries(&mut reader)?,
            _ => pass_field(PAGE_HEADER, number, kind, &mut reader)?,
        }
    }
    // The `parquet` crate takes sizes modulo 2^32.
    let size = |value: Option<i64>| value.and_then(|value| i32::try_from(value).ok()?.try_into().ok());
    let (Some(expanded_bytes), Some(page_bytes)) = (size(expanded), size(page)) else {
        return Err(std::io::Error::other("a page without a size"));
    };
    // Memory for all entries is allocated before the first is read; an entry has at least a byte.
    if size(entries).is_none_or(|entries: u64| entries > expanded_bytes) {
        return Err(std::io::Error::other("a dictionary with more entries than bytes"));
    }
    Ok(Header { bytes: reader.bytes(), expanded_bytes, page_bytes })
}

/// Passes over the part of a header that describes a dictionary, and returns the number of entries.
fn dictionary_entries(reader: &mut CompactReader<impl Read>) -> std::io::Result<Option<i64>> {
    let (mut number, mut entries) = (0, None);
    while let Some(kind) = reader.field(&mut number)? {
        match (number, kind) {
            (1, WireType::Integer) => entries = Some(reader.integer()?),
            _ => pass_field(DICTIONARY, number, kind, reader)?,
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A header with the sizes of its page in memory and in the file.
    fn page(bytes: u8) -> Vec<u8> {
        vec![0x15, 0, 0x15, 10 << 1, 0x15, bytes << 1, 0]
    }

    #[test]
    fn headers_of_pages_are_checked() {
        let pages = [page(2), b"ab".to_vec(), page(0)].concat();
        let check = |bytes: &[u8], limit: u64| {
            let mut file = Cursor::new([b"PAR1", bytes].concat());
            check_headers(&mut file, 4, bytes.len() as u64, limit).map_err(|error| error.to_string())
        };
        assert_eq!(check(&pages, 14), Ok(Pages { header_bytes: 14, expanded_bytes: 20 }));
        assert!(check(&pages, 13).unwrap_err().contains("overlap"));
        assert!(check(&[0], 99).unwrap_err().contains("without a size"));
        // A size of 2^32 + 2, a size that is text.
        let large = [0x15, 0, 0x15, 20, 0x15, 0x84, 0x80, 0x80, 0x80, 0x20, 0];
        assert!(check(&large, 99).unwrap_err().contains("without a size"));
        let text = [0x15, 0, 0x15, 20, 0x18, 1, b'x', 0];
        assert!(check(&text, 99).unwrap_err().contains("has a wrong type"));
        // A dictionary with as many entries as bytes, and with one more.
        let dictionary = |entries: u8| [0x15, 4, 0x15, 20, 0x15, 0, 0x4c, 0x15, entries << 1, 0x15, 0, 0, 0];
        assert!(check(&dictionary(10), 99).is_ok());
        assert!(check(&dictionary(11), 99).unwrap_err().contains("more entries than bytes"));
        // A list of doubles in an unknown field.
        let list = [0x15, 0, 0x15, 20, 0x15, 4, 0x79, 0xf7, 0xff, 0xff, 0xff, 0xff, 7, 0];
        assert!(check(&list, 99).unwrap_err().contains("where none is known"));
    }
}
