//! Headers in Thrift's compact protocol, checked before the `parquet` crate reads them.
//!
//! That crate skips fields that it does not know. It takes no byte for an element of a skipped list
//! of flags, so that seven bytes make it count to 2^31.

use std::io::{Error, ErrorKind, Read, Result};

/// The levels of nesting that the `parquet` crate skips.
const MAX_DEPTH: u32 = 64;
/// The bytes of a number of 64 bits.
const MAX_NUMBER_BYTES: u32 = 10;

/// A structure that was read to its end.
pub struct Checked {
    /// The number of its bytes.
    pub bytes: u64,
    /// The value of the field `integer`, if it is there.
    pub integer: Option<i64>,
}

/// Reads a structure, and checks that it does not declare more elements than it has bytes, if they
/// take none. Returns the value of the field with the number `integer`.
///
/// # Errors
/// If it is malformed, or ends early.
pub fn check(reader: impl Read, integer: i64) -> Result<Checked> {
    let mut walk = Walk { reader, bytes: 0, flags: 0 };
    let (mut field, mut found) = (0, None);
    while let Some(kind) = walk.field(&mut field)? {
        match kind {
            4..=6 if field == integer => found = Some(zig_zag(walk.number()?)),
            _ => walk.skip(kind, MAX_DEPTH)?,
        }
    }
    if walk.flags > walk.bytes {
        return Err(malformed("a list of more flags than bytes"));
    }
    Ok(Checked { bytes: walk.bytes, integer: found })
}

struct Walk<R> {
    reader: R,
    /// The bytes so far.
    bytes: u64,
    /// The elements of lists so far that take no bytes.
    flags: u64,
}

impl<R: Read> Walk<R> {
    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.reader.read_exact(&mut byte)?;
        self.bytes += 1;
        Ok(byte[0])
    }

    fn number(&mut self) -> Result<u64> {
        let mut value = 0;
        for place in 0..MAX_NUMBER_BYTES {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(7 * place);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(malformed("a number of more than 64 bits"))
    }

    fn skip_bytes(&mut self, count: u64) -> Result<()> {
        let skipped = std::io::copy(&mut (&mut self.reader).take(count), &mut std::io::sink())?;
        self.bytes += skipped;
        if skipped == count { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads the number and the kind of the next field; `None` at the end of the structure.
    fn field(&mut self, number: &mut i64) -> Result<Option<u8>> {
        let byte = self.byte()?;
        if byte & 0xf == 0 {
            return Ok(None);
        }
        *number = match byte >> 4 {
            0 => zig_zag(self.number()?),
            more => number.saturating_add(i64::from(more)),
        };
        Ok(Some(byte & 0xf))
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| malformed("too many levels"))?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.skip_bytes(1),
            4..=6 => self.number().map(drop),
            7 => self.skip_bytes(8),
            8 => {
                let length = self.number()?;
                self.skip_bytes(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.number()? } else { u64::from(byte >> 4) };
                self.skip_elements(count, &[byte & 0xf], depth)
            }
            11 => match self.number()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.skip_elements(count, &[kinds >> 4, kinds & 0xf], depth)
                }
            },
            12 => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    self.skip(kind, depth)?;
                }
                Ok(())
            }
            13 => self.skip_bytes(16),
            _ => Err(malformed("an unknown kind of value")),
        }
    }

    fn skip_elements(&mut self, count: u64, kinds: &[u8], depth: u32) -> Result<()> {
        if kinds.iter().all(|kind| matches!(kind, 1 | 2)) {
            self.flags = self.flags.saturating_add(count);
            return Ok(());
        }
        for _ in 0..count {
            kinds.iter().try_for_each(|kind| self.skip(*kind, depth))?;
        }
        Ok(())
    }
}

fn zig_zag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn malformed(problem: &str) -> Error {
    Error::new(ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let checked = check(&bytes[..], 4).unwrap();
        assert_eq!((checked.bytes as usize, checked.integer), (bytes.len() - 4, Some(-66)));
        for end in 0..bytes.len() - 4 {
            assert!(check(&bytes[..end], 4).is_err(), "{end}");
        }
    }

    #[test]
    fn many_flags_in_few_bytes_are_refused() {
        let flags = |count: &[u8]| [&[0x19, 0xf1][..], count, &[0]].concat();
        assert!(check(&flags(&[4])[..], 1).is_ok());
        let error = check(&flags(&[0xff, 0xff, 0xff, 0xff, 7])[..], 1).err().unwrap();
        assert!(error.to_string().contains("more flags than bytes"), "{error}");
        assert!(check(&[0x1b, 0xff, 0xff, 3, 0x11, 0][..], 1).is_err());
    }

    #[test]
    fn malformed_structures_are_refused() {
        for bytes in
            [&[0x1e][..], &[0x15, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0], &[0x1c; 200]]
        {
            assert!(check(bytes, 1).is_err(), "{bytes:?}");
        }
    }
}
