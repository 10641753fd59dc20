//! The fields of Parquet's footer and of the headers of its pages.
//!
//! The `parquet` crate takes fields that it knows as if they had the right type. In a file with
//! other types it would see other bytes than the checks of this package, so that they are refused.

use super::thrift::{CompactReader, WireType, malformed};
use Layout::{Binary, Boolean, Double, Integer, List, Struct};
use std::io::{Read, Result};

/// What the `parquet` crate reads at a place.
pub(super) enum Layout {
    Boolean,
    Integer,
    Double,
    Binary,
    List(&'static Layout),
    Struct(Fields),
}

/// The known fields of a structure, by number.
pub(super) type Fields = &'static [(i64, Layout)];

impl Layout {
    fn kind(&self) -> WireType {
        match self {
            Boolean => WireType::Boolean,
            Integer => WireType::Integer,
            Double => WireType::Double,
            Binary => WireType::Binary,
            List(_) => WireType::List,
            Struct(_) => WireType::Struct,
        }
    }

    /// Passes over a value that is declared to be of a type.
    fn pass<R: Read>(&self, kind: WireType, reader: &mut CompactReader<R>) -> Result<()> {
        if kind != self.kind() {
            return Err(malformed("a field of its footer or of a page has a wrong type"));
        }
        match self {
            List(element) => {
                let (length, kind) = reader.list()?;
                (0..length).try_for_each(|_| element.pass(WireType::of(kind)?, reader))
            }
            Struct(fields) => pass_fields(fields, reader),
            _ => reader.skip(kind),
        }
    }
}

/// Passes over the fields of a structure.
pub(super) fn pass_fields<R: Read>(fields: Fields, reader: &mut CompactReader<R>) -> Result<()> {
    let mut number = 0;
    while let Some(kind) = reader.field(&mut number)? {
        pass_field(fields, number, kind, reader)?;
    }
    Ok(())
}

/// Passes over the field with a number. The `parquet` crate skips fields that it does not know by
/// the type that the file declares, as this does.
pub(super) fn pass_field<R: Read>(
    fields: Fields,
    number: i64,
    kind: WireType,
    reader: &mut CompactReader<R>,
) -> Result<()> {
    match fields.iter().find(|(known, _)| *known == number) {
        Some((_, layout)) => layout.pass(kind, reader),
        None => reader.skip(kind),
    }
}

/// The header of a page: type, sizes in memory and in the file, checksum, then one of four kinds.
pub(super) const PAGE_HEADER: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Integer),
    (5, Struct(&[(1, Integer), (2, Integer), (3, Integer), (4, Integer), (5, Struct(STATISTICS))])),
    (6, Struct(&[])),
    (7, Struct(DICTIONARY)),
    (8, Struct(DATA_PAGE_V2)),
];

/// The header of a dictionary: entries, encoding, whether they are sorted.
pub(super) const DICTIONARY: Fields = &[(1, Integer), (2, Integer), (3, Boolean)];

const DATA_PAGE_V2: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Boolean),
    (8, Struct(STATISTICS)),
];

/// The footer: version, schema, rows, row groups, pairs of keys and values, writer, orders. The
/// elements of the schema were checked before.
pub(super) const FOOTER: Fields = &[
    (1, Integer),
    (2, List(&Struct(&[]))),
    (3, Integer),
    (4, List(&Struct(ROW_GROUP))),
    (5, List(&Struct(KEY_VALUE))),
    (6, Binary),
    (7, List(&Struct(&[(1, Struct(&[]))]))),
];

const ROW_GROUP: Fields = &[
    (1, List(&Struct(COLUMN_CHUNK))),
    (2, Integer),
    (3, Integer),
    (4, List(&Struct(&[(1, Integer), (2, Boolean), (3, Boolean)]))),
    (5, Integer),
    (6, Integer),
    (7, Integer),
];

const COLUMN_CHUNK: Fields =
    &[(1, Binary), (2, Integer), (3, Struct(COLUMN)), (4, Integer), (5, Integer), (6, Integer), (7, Integer)];

const COLUMN: Fields = &[
    (1, Integer),
    (2, List(&Integer)),
    (3, List(&Binary)),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, List(&Struct(KEY_VALUE))),
    (9, Integer),
    (10, Integer),
    (11, Integer),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, Integer), (2, Integer), (3, Integer)]))),
    (14, Integer),
    (15, Integer),
    (16, Struct(&[(1, Integer), (2, List(&Integer)), (3, List(&Integer))])),
    (17, Struct(&[(1, Struct(BOUNDING_BOX)), (2, List(&Integer))])),
];

const KEY_VALUE: Fields = &[(1, Binary), (2, Binary)];

const STATISTICS: Fields = &[
    (1, Binary),
    (2, Binary),
    (3, Integer),
    (4, Integer),
    (5, Binary),
    (6, Binary),
    (7, Boolean),
    (8, Boolean),
    (9, Integer),
];

const BOUNDING_BOX: Fields =
    &[(1, Double), (2, Double), (3, Double), (4, Double), (5, Double), (6, Double), (7, Double), (8, Double)];
