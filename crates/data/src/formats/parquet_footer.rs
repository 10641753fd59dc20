//! The footer of a Parquet file: its schema is checked before the `parquet` crate builds a tree of
//! it, since that recurses without a limit (a stack overflow cannot be caught) and reserves memory
//! for as many children as an element declares.

use super::{
    parquet_layout::{FOOTER, pass_fields},
    thrift::{CompactReader, WireType, malformed},
};
use crate::catch_panics::catch_panic;
use parquet::{
    arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
    file::reader::ChunkReader,
};
use std::io::Result;

/// The most levels of columns inside columns.
const MAX_DEPTH: usize = 64;
/// The most columns and groups of columns of a file.
const MAX_ELEMENTS: u64 = 100_000;
/// The length of the footer, then the magic bytes.
const TRAILER_BYTES: u64 = 8;

/// Reads the footer of a file, or returns what is wrong with it.
pub(crate) fn load<R: ChunkReader>(reader: &R) -> std::result::Result<ArrowReaderMetadata, String> {
    let describe = |error: String| format!("not a readable Parquet file: {error}");
    if let Some(footer) = catch_panic(|| footer(reader)).map_err(describe)? {
        let checked = check_schema(&footer).and_then(|()| check_layout(&footer));
        checked.map_err(|error| describe(error.to_string()))?;
    }
    catch_panic(|| ArrowReaderMetadata::load(reader, ArrowReaderOptions::new())).map_err(describe)
}

/// Returns the bytes of the footer; `None` if there is none, which the `parquet` crate reports.
fn footer<R: ChunkReader>(reader: &R) -> parquet::errors::Result<Option<bytes::Bytes>> {
    let Some(end) = reader.len().checked_sub(TRAILER_BYTES) else { return Ok(None) };
    let trailer = reader.get_bytes(end, TRAILER_BYTES as usize)?;
    let (length, magic) = trailer.split_at(4);
    let length = u32::from_le_bytes(length.try_into().unwrap_or_default());
    match end.checked_sub(u64::from(length)) {
        Some(begin) if magic == b"PAR1" => reader.get_bytes(begin, length as usize).map(Some),
        _ => Ok(None),
    }
}

/// Checks the types of the other fields, and that lists do not declare more than the footer has.
fn check_layout(footer: &[u8]) -> Result<()> {
    let mut reader = CompactReader::new(footer);
    pass_fields(FOOTER, &mut reader)?;
    reader.check_flags()
}

/// Checks the schema of a footer. Whatever passes is read alike by the `parquet` crate, which takes
/// fields of a wrong type as if they had the right one: those are refused here.
fn check_schema(footer: &[u8]) -> Result<()> {
    let (mut reader, mut field) = (CompactReader::strict(footer), 0);
    loop {
        match (reader.field(&mut field)?, field) {
            (Some(WireType::Integer), 1) => reader.integer()?,
            (Some(WireType::List), 2) => break,
            _ => return Err(malformed("its footer does not begin with a version and a schema")),
        };
    }
    let (elements, kind) = reader.list()?;
    if WireType::of(kind)? != WireType::Struct || elements > MAX_ELEMENTS {
        let problem = format!("its schema has {elements} elements; up to {MAX_ELEMENTS} can be read");
        return Err(malformed(problem));
    }
    // The number of children still to come of every open group.
    let mut open: Vec<u64> = Vec::new();
    for number in 0..elements {
        let children = element(&mut reader)?;
        let left = elements - 1 - number;
        if children > left {
            let problem =
                format!("element {number} of its schema has {children} children, but {left} follow");
            return Err(malformed(problem));
        }
        if let Some(siblings) = open.last_mut() {
            *siblings -= 1;
        }
        if children > 0 {
            open.push(children);
        }
        if open.len() > MAX_DEPTH {
            return Err(malformed(format!("its columns are nested in more than {MAX_DEPTH} levels")));
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Ok(())
}

/// Passes over an element of a schema, and returns the number of its children.
fn element(reader: &mut CompactReader<&[u8]>) -> Result<u64> {
    let (mut field, mut children) = (0, 0);
    while let Some(kind) = reader.field(&mut field)? {
        match (field, kind) {
            (5, WireType::Integer) => {
                children = reader.integer()?;
            }
            (1..=3 | 6..=9, WireType::Integer) | (4, WireType::Binary) => reader.skip(kind)?,
            (10, WireType::Struct) => logical_type(reader)?,
            (11.., kind) => reader.skip(kind)?,
            _ => return Err(wrong_type(field)),
        }
    }
    u64::try_from(children)
        .map_err(|_| malformed(format!("an element of its schema has {children} children")))
}

/// Passes over what the numbers of a column mean: one structure with up to two fields.
fn logical_type(reader: &mut CompactReader<&[u8]>) -> Result<()> {
    let (mut meaning, mut field) = (0, 0);
    let Some(WireType::Struct) = reader.field(&mut meaning)? else {
        return Err(wrong_type(10));
    };
    while let Some(kind) = reader.field(&mut field)? {
        let expected = match (meaning, field) {
            // Precision and scale of decimals, and how points of a globe are joined.
            (5, 1 | 2) | (18, 2) => WireType::Integer,
            // Whether times are in UTC, and their unit.
            (7 | 8, 1) => WireType::Boolean,
            (7 | 8, 2) => WireType::Struct,
            // The width of an integer and whether it has a sign; the version of a variant.
            (10 | 16, 1) => WireType::Byte,
            (10, 2) => WireType::Boolean,
            // The coordinate system of shapes.
            (17 | 18, 1) => WireType::Binary,
            _ => kind,
        };
        if kind != expected {
            return Err(wrong_type(10));
        }
        reader.skip(kind)?;
    }
    match reader.field(&mut meaning)? {
        None => Ok(()),
        Some(_) => Err(wrong_type(10)),
    }
}

fn wrong_type(field: i64) -> std::io::Error {
    malformed(format!("field {field} of an element of its schema has a wrong type"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn varint(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value > 127 {
            bytes.push(value as u8 | 128);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    /// Returns a file without rows whose schema consists of some elements.
    fn file(elements: &[Vec<u8>]) -> Bytes {
        let mut footer = vec![0x15, 2, 0x19, 0xfc];
        footer.extend(varint(elements.len() as u64));
        footer.extend(elements.concat());
        footer.extend([0x16, 0, 0x19, 0x0c, 0]);
        [b"PAR1", &footer[..], &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat().into()
    }

    /// Returns an element with a name, as a group if it has children and as a column otherwise.
    fn element(children: u64) -> Vec<u8> {
        match children {
            0 => [0x15, 10, 0x25, 0, 0x18, 1, b'x', 0].to_vec(),
            _ => [&[0x35, 0, 0x18, 1, b'g', 0x15][..], &varint(2 * children), &[0]].concat(),
        }
    }

    fn nested(groups: usize) -> Bytes {
        file(&[vec![element(1); groups + 1], vec![element(0)]].concat())
    }

    #[test]
    fn deeply_nested_schemas_are_refused() {
        load(&nested(10)).unwrap();
        for groups in [64, 1000, 10_000, 90_000] {
            let error = load(&nested(groups)).unwrap_err();
            assert!(error.contains("nested in more than 64 levels"), "{groups}: {error}");
        }
        assert!(load(&nested(1_000_000)).unwrap_err().contains("1000002 elements"));
    }

    #[test]
    fn more_children_than_elements_are_refused() {
        for children in [2, u64::from(i32::MAX.unsigned_abs())] {
            let error = load(&file(&[element(children), element(0)])).unwrap_err();
            assert!(error.contains(&format!("has {children} children, but 1 follow")), "{error}");
        }
        load(&file(&[element(1), element(0)])).unwrap();
    }

    /// A reader that ignores types would see other elements than one that obeys them.
    #[test]
    fn fields_of_another_type_are_refused() {
        // The name as an integer, and the scale of a decimal as bytes.
        let name = [0x35, 0, 0x15, 1, b'g', 0x15, 2, 0].to_vec();
        let scale = [0x15, 10, 0x25, 0, 0x18, 1, b'x', 0x6c, 0x5c, 0x18, 1, b'x', 0, 0, 0].to_vec();
        for wrong in [name, scale] {
            let error = load(&file(&[element(1), wrong, element(0)])).unwrap_err();
            assert!(error.contains("a wrong type"), "{error}");
        }
    }
}
