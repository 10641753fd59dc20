//! Thrift's compact protocol, in which Parquet stores its footer and the headers of its pages.
//!
//! Both are checked before the `parquet` crate reads them. That crate skips fields that it does not
//! know. It takes no byte for an element of a skipped list of flags, so that seven bytes make it
//! count to 2^31.

use std::io::{Error, ErrorKind, Read, Result};

/// The `parquet` crate takes numbers of fields modulo 2^16, which would be others.
const MAX_FIELD: i64 = i16::MAX as i64;
/// The bytes of a number of 64 bits.
const MAX_NUMBER_BYTES: u32 = 10;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireType {
    Boolean,
    Byte,
    /// An integer of any size but a byte.
    Integer,
    Double,
    Binary,
    /// A list or a set.
    List,
    Map,
    Struct,
    Uuid,
}

impl WireType {
    pub fn of(bits: u8) -> Result<Self> {
        Ok(match bits {
            1 | 2 => Self::Boolean,
            3 => Self::Byte,
            4..=6 => Self::Integer,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return Err(malformed("an unknown kind of value")),
        })
    }
}

/// Reads values one after another.
pub(super) struct CompactReader<R> {
    reader: R,
    /// The bytes so far.
    bytes: u64,
    /// The elements of lists so far that take no bytes.
    flags: u64,
    /// Whether values that are skipped have no lists.
    is_strict: bool,
}

impl<R: Read> CompactReader<R> {
    /// Returns a reader of structures whose fields are in their order, as all writers store them.
    pub fn new(reader: R) -> Self {
        Self { reader, bytes: 0, flags: 0, is_strict: false }
    }

    /// Returns a reader that also refuses lists, maps and UUIDs in values that are skipped, of
    /// which schemas and headers of pages have none.
    pub fn strict(reader: R) -> Self {
        Self { is_strict: true, ..Self::new(reader) }
    }

    /// The bytes so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Checks that the lists so far did not declare more elements than there were bytes, if their
    /// elements take none.
    pub fn check_flags(&self) -> Result<()> {
        if self.flags > self.bytes { Err(malformed("a list of more flags than bytes")) } else { Ok(()) }
    }

    /// Returns the type of the next field of a structure, and sets its number, which is 0 before
    /// the first; `None` at the end of the structure.
    pub fn field(&mut self, number: &mut i64) -> Result<Option<WireType>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let next = match head >> 4 {
            0 => self.integer()?,
            more => *number + i64::from(more),
        };
        if next <= *number || next > MAX_FIELD {
            return Err(malformed("fields out of order"));
        }
        *number = next;
        WireType::of(head & 15).map(Some)
    }

    /// Returns the length of a list, and the bits of the type of its elements, which mean nothing
    /// if it is empty.
    pub fn list(&mut self) -> Result<(u64, u8)> {
        let head = self.byte()?;
        let length = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        Ok((length, head & 15))
    }

    /// Returns an integer.
    pub fn integer(&mut self) -> Result<i64> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Passes over a value.
    pub fn skip(&mut self, kind: WireType) -> Result<()> {
        // As many levels as the `parquet` crate passes over, or as a schema has.
        self.skip_within(kind, if self.is_strict { 16 } else { 64 })
    }

    fn skip_within(&mut self, kind: WireType, levels: u32) -> Result<()> {
        let levels = levels.checked_sub(1).ok_or_else(|| malformed("too many levels"))?;
        match kind {
            WireType::Boolean => Ok(()),
            WireType::Byte => self.skip_bytes(1),
            WireType::Integer => self.number().map(drop),
            WireType::Double => self.skip_bytes(8),
            WireType::Binary => {
                let length = self.number()?;
                self.skip_bytes(length)
            }
            WireType::List | WireType::Map | WireType::Uuid if self.is_strict => {
                Err(malformed("a list, map or UUID where none is known"))
            }
            WireType::List => {
                let (length, kind) = self.list()?;
                self.skip_elements(length, &[kind], levels)
            }
            WireType::Map => match self.number()? {
                0 => Ok(()),
                length => {
                    let kinds = self.byte()?;
                    self.skip_elements(length, &[kinds >> 4, kinds & 15], levels)
                }
            },
            WireType::Uuid => self.skip_bytes(16),
            WireType::Struct => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    self.skip_within(kind, levels)?;
                }
                Ok(())
            }
        }
    }

    fn skip_elements(&mut self, count: u64, kinds: &[u8], levels: u32) -> Result<()> {
        if kinds.iter().all(|kind| matches!(kind, 1 | 2)) {
            self.flags = self.flags.saturating_add(count);
            return Ok(());
        }
        for _ in 0..count {
            kinds.iter().try_for_each(|kind| self.skip_within(WireType::of(*kind)?, levels))?;
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.reader.read_exact(&mut byte).map_err(cut)?;
        self.bytes += 1;
        Ok(byte[0])
    }

    fn number(&mut self) -> Result<u64> {
        let mut value = 0;
        for place in 0..MAX_NUMBER_BYTES {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(malformed("a number of more than 64 bits"))
    }

    fn skip_bytes(&mut self, count: u64) -> Result<()> {
        let skipped = std::io::copy(&mut (&mut self.reader).take(count), &mut std::io::sink())?;
        self.bytes += skipped;
        if skipped == count { Ok(()) } else { Err(cut(ErrorKind::UnexpectedEof.into())) }
    }
}

/// Describes an error while reading.
fn cut(error: Error) -> Error {
    if error.kind() == ErrorKind::UnexpectedEof { malformed("it is cut short") } else { error }
}

pub(super) fn malformed(problem: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, problem.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes over a structure, and returns its bytes.
    fn skip(bytes: &[u8]) -> Result<u64> {
        let mut reader = CompactReader::new(bytes);
        reader.skip(WireType::Struct)?;
        reader.check_flags()?;
        Ok(reader.bytes())
    }

    #[test]
    fn a_structure_of_every_kind_is_read() {
        let bytes = [
            &[0x11, 0x12][..],                                       // flags
            &[0x13, 7],                                              // a byte
            &[0x15, 0x83, 1],                                        // an integer, -66
            &[0x17, 0, 0, 0, 0, 0, 0, 0, 0],                         // a double
            &[0x18, 2, b'a', b'b'],                                  // a string
            &[0x19, 0x28, 1, b'a', 0],                               // a list of two strings
            &[0x1b, 1, 0x85, 1, b'k', 4],                            // a map
            &[0x1c, 0x15, 4, 0],                                     // a structure
            &[0x0c, 40, 0],                                          // the same with its number, 20
            &[0x1d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], // a unique identifier
            &[0x19, 0x31],                                           // three flags
            &[0],
            b"more",
        ]
        .concat();
        assert_eq!(skip(&bytes).unwrap(), bytes.len() as u64 - 4);
        for end in 0..bytes.len() - 4 {
            assert!(skip(&bytes[..end]).is_err(), "{end}");
        }
        let (mut reader, mut field) = (CompactReader::new(&[0x45, 0x83, 1, 0][..]), 0);
        assert_eq!(reader.field(&mut field).unwrap(), Some(WireType::Integer));
        assert_eq!((field, reader.integer().unwrap()), (4, -66));
        assert_eq!(reader.field(&mut field).unwrap(), None);
    }

    #[test]
    fn many_flags_in_few_bytes_are_refused() {
        let flags = |count: &[u8]| [&[0x19, 0xf1][..], count, &[0]].concat();
        assert!(skip(&flags(&[4])).is_ok());
        let error = skip(&flags(&[0xff, 0xff, 0xff, 0xff, 7])).err().unwrap();
        assert!(error.to_string().contains("more flags than bytes"), "{error}");
        assert!(skip(&[0x1b, 0xff, 0xff, 3, 0x11, 0]).is_err());
    }

    #[test]
    fn malformed_structures_are_refused() {
        for bytes in
            // An unknown type, a field 0, a field beyond 16 bits, a long number, many levels.
            [
                &[0x1e][..],
                &[0x05, 0, 0, 0],
                &[0x05, 0x8a, 0x80, 8, 0, 0],
                &[0x15, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0],
                &[0x1c; 200],
            ]
        {
            assert!(skip(bytes).is_err(), "{bytes:?}");
        }
    }
}
