//! Types of numbers in arrays.

use std::io::{Error, ErrorKind, Read};

/// The kind of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 0 or 1.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A floating-point number.
    Float,
}

/// The type of the numbers of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberType {
    /// The kind.
    pub kind: Kind,
    /// The size of a number in bytes.
    pub bytes: usize,
    is_big_endian: bool,
}

impl NumberType {
    /// Parses a type such as `'<f8'`; `None` for strings, dates, complex numbers and records.
    pub fn parse(descr: &str) -> Option<Self> {
        let text = descr.strip_prefix('\'')?.strip_suffix('\'')?;
        let (order, text) = (text.get(..1)?, text.get(1..)?);
        let (kind, size) = (text.get(..1)?, text.get(1..)?);
        let bytes = size.parse().ok()?;
        let kind = match (kind, bytes) {
            ("b", 1) => Kind::Bool,
            ("i", 1 | 2 | 4 | 8) => Kind::Int,
            ("u", 1 | 2 | 4 | 8) => Kind::Uint,
            // Half and extended precision are known, but not read.
            ("f", _) => Kind::Float,
            _ => return None,
        };
        match order {
            "<" => Some(Self { kind, bytes, is_big_endian: false }),
            ">" => Some(Self { kind, bytes, is_big_endian: true }),
            "|" if bytes == 1 => Some(Self { kind, bytes, is_big_endian: false }),
            _ => None,
        }
    }

    /// Whether numbers can be read: not half and extended precision.
    pub fn is_readable(self) -> bool {
        self.kind != Kind::Float || matches!(self.bytes, 4 | 8)
    }

    /// Reads the bits of the next number, the lowest first.
    fn bits(self, reader: &mut impl Read) -> std::io::Result<u64> {
        let mut bytes = [0; 8];
        let number = &mut bytes[..self.bytes];
        reader.read_exact(number)?;
        if self.is_big_endian {
            number.reverse();
        }
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads the next number of a type that [is readable](Self::is_readable).
    pub fn read(self, reader: &mut impl Read) -> std::io::Result<f64> {
        match self.kind {
            Kind::Int => self.read_integer(reader).map(|value| value as f64),
            Kind::Uint => self.bits(reader).map(|bits| bits as f64),
            Kind::Float if self.bytes == 4 => {
                self.bits(reader).map(|bits| f64::from(f32::from_bits(bits as u32)))
            }
            Kind::Float => self.bits(reader).map(f64::from_bits),
            Kind::Bool => match self.bits(reader)? {
                bits @ (0 | 1) => Ok(bits as f64),
                other => Err(Error::new(ErrorKind::InvalidData, format!("{other} is not a boolean"))),
            },
        }
    }

    /// Reads the next number of a signed type.
    pub fn read_integer(self, reader: &mut impl Read) -> std::io::Result<i64> {
        let unused = 64 - 8 * self.bytes as u32;
        // The shift to the right extends the sign.
        self.bits(reader).map(|bits| (bits << unused) as i64 >> unused)
    }
}
