//! The few parts of Thrift's compact protocol that the footer of a Parquet file needs.

/// The most levels of a value that is passed over.
const MAX_DEPTH: u8 = 16;

/// The type of a field on the wire.
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
}

impl WireType {
    fn of(bits: u8) -> Result<Self, String> {
        Ok(match bits {
            1 | 2 => Self::Boolean,
            3 => Self::Byte,
            4..=6 => Self::Integer,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            _ => return Err(format!("its footer has a field of the unknown type {bits}")),
        })
    }
}

/// Reads values from the front of some bytes.
pub(super) struct CompactReader<'a>(pub &'a [u8]);

impl CompactReader<'_> {
    /// Returns the number and the type of the next field of a structure, and remembers its number;
    /// `None` at the end of the structure.
    pub fn field(&mut self, last: &mut u16) -> Result<Option<(u16, WireType)>, String> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        // All writers store the fields in order. Only then do all readers agree on what they see.
        if head >> 4 == 0 {
            return Err("its footer has fields out of order".into());
        }
        *last = last.checked_add(u16::from(head >> 4)).ok_or("its footer has too many fields")?;
        Ok(Some((*last, WireType::of(head & 15)?)))
    }

    /// Returns the length of a list and the type of its elements.
    pub fn list(&mut self) -> Result<(u64, WireType), String> {
        let head = self.byte()?;
        if head == 0 {
            return Ok((0, WireType::Byte));
        }
        let length = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        Ok((length, WireType::of(head & 15)?))
    }

    /// Returns an integer.
    pub fn integer(&mut self) -> Result<i64, String> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Passes over a value.
    pub fn skip(&mut self, kind: WireType) -> Result<(), String> {
        self.skip_within(kind, MAX_DEPTH)
    }

    fn skip_within(&mut self, kind: WireType, levels: u8) -> Result<(), String> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(format!("its footer has a value of more than {MAX_DEPTH} levels"));
        };
        match kind {
            WireType::Boolean => Ok(()),
            WireType::Byte => self.bytes(1),
            WireType::Integer => self.unsigned().map(drop),
            WireType::Double => self.bytes(8),
            WireType::Binary => {
                let length = self.unsigned()?;
                self.bytes(length)
            }
            WireType::Struct => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_within(kind, levels)?;
                }
                Ok(())
            }
            // No list or map occurs before or in a schema.
            WireType::List | WireType::Map => Err("the schema in its footer has a list".into()),
        }
    }

    fn byte(&mut self) -> Result<u8, String> {
        let (&first, rest) = self.0.split_first().ok_or_else(cut)?;
        self.0 = rest;
        Ok(first)
    }

    fn bytes(&mut self, count: u64) -> Result<(), String> {
        let count = usize::try_from(count).map_err(|_| cut())?;
        self.0 = self.0.get(count..).ok_or_else(cut)?;
        Ok(())
    }

    fn unsigned(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("its footer has a number of more than 64 bits".into())
    }
}

fn cut() -> String {
    "its footer is cut short".into()
}
