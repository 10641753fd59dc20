//! The header of an array: its type and shape, as the text of a Python dictionary.

use std::io::{Read, Write};

/// The maximum length of a header. NumPy rejects longer headers, too.
const MAX_BYTES: usize = 10_000;
const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The data begin at a multiple of this, like those of NumPy.
const ALIGNMENT: usize = 64;

/// The header of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The type, as a Python expression: `'<f8'` with its quotes, or a list of fields.
    pub descr: String,
    /// Whether the first index varies fastest.
    pub is_fortran: bool,
    /// The lengths of the dimensions; their product fits in 64 bits.
    pub shape: Vec<u64>,
}

impl Header {
    /// The header of an array of a plain type.
    pub fn row_major(type_string: &str, shape: &[u64]) -> Self {
        Self { descr: format!("'{type_string}'"), is_fortran: false, shape: shape.to_vec() }
    }

    /// Reads a header and leaves the reader at the first number. Rejects headers that NumPy never
    /// writes but that could exhaust a reader: too long, or with dimensions whose product does not
    /// fit in 64 bits.
    pub fn read(reader: &mut impl Read) -> Result<Self, String> {
        let mut next = |length: usize, problem: &str| {
            let mut bytes = vec![0; length];
            reader.read_exact(&mut bytes).map(|()| bytes).map_err(|_| problem.to_owned())
        };
        let foreign = "not a NumPy array";
        let start = next(8, foreign)?;
        let length_bytes = match start[6] {
            _ if !start.starts_with(MAGIC) => return Err(foreign.into()),
            1 => 2,
            2 | 3 => 4,
            _ => return Err(foreign.into()),
        };
        let length =
            next(length_bytes, foreign)?.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        if length > MAX_BYTES {
            return Err(format!("its header is {length} bytes long"));
        }
        let text = String::from_utf8(next(length, "its header is truncated")?);
        let header = text.ok().and_then(|text| Self::parse(text.trim_end()));
        header.ok_or_else(|| "its header does not describe a plain array".to_owned())
    }

    /// Parses `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = split_expression(rest)?;
            let (value, after) = split_expression(after.strip_prefix(':')?)?;
            match key.trim_matches(['\'', '"']) {
                "descr" => descr = Some(value.to_owned()),
                "fortran_order" => is_fortran = Some(parse_flag(value)?),
                "shape" => shape = Some(parse_shape(value)?),
                _ => return None,
            }
            rest = after.strip_prefix(',').unwrap_or(after).trim_start();
        }
        Some(Self { descr: descr?, is_fortran: is_fortran?, shape: shape? })
    }

    /// Writes the header, padded with spaces.
    pub fn write(&self, into: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
        let comma = if self.shape.len() == 1 { "," } else { "" };
        let lengths: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let mut text = format!(
            "{{'descr': {}, 'fortran_order': {}, 'shape': ({}{comma}), }}",
            self.descr,
            if self.is_fortran { "True" } else { "False" },
            lengths.join(", ")
        );
        let before = MAGIC.len() + 4;
        let length = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
        text.extend(std::iter::repeat_n(' ', length - text.len() - 1));
        text.push('\n');
        into.write_all(MAGIC)?;
        into.write_all(&[1, 0])?;
        let length = u16::try_from(length).map_err(|_| std::io::Error::other("the header is too long"))?;
        into.write_all(&length.to_le_bytes())?;
        into.write_all(text.as_bytes())
    }
}

/// Splits off a Python expression: up to a comma or colon outside of strings and brackets.
fn split_expression(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut quote) = (0u32, None);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            (None, ',' | ':') if depth == 0 => return Some((text[..at].trim(), &text[at..])),
            (None, _) => {}
        }
    }
    (depth == 0 && quote.is_none()).then_some((text.trim(), ""))
}

fn parse_flag(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

fn parse_shape(text: &str) -> Option<Vec<u64>> {
    let lengths = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    if lengths.is_empty() {
        return Some(Vec::new());
    }
    // A tuple of one element ends in a comma.
    let lengths = lengths.strip_suffix(',').unwrap_or(lengths);
    let shape: Vec<u64> =
        lengths.split(',').map(|length| length.trim().parse().ok()).collect::<Option<_>>()?;
    // Some readers multiply the nonzero lengths alone.
    shape
        .iter()
        .filter(|&&length| length > 0)
        .try_fold(1u64, |product, &length| product.checked_mul(length))?;
    Some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(String, bool, Vec<u64>)> {
        Header::parse(text).map(|header| (header.descr, header.is_fortran, header.shape))
    }

    #[test]
    fn headers_are_python_dictionaries() {
        let plain = Some(("'<f8'".to_owned(), false, vec![3, 4]));
        assert_eq!(parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"), plain);
        assert_eq!(parse("{\"shape\":(3,4),'fortran_order':False,  'descr' : '<f8'}"), plain);
        let fields = "[('a:b', '<f4'), ('(c', '<i8', (2,))]";
        let structured = format!("{{'descr': {fields}, 'fortran_order': True, 'shape': (7,)}}");
        assert_eq!(parse(&structured), Some((fields.into(), true, vec![7])));
        assert_eq!(
            parse("{'descr': '|S3', 'fortran_order': False, 'shape': ()}").unwrap().2,
            Vec::<u64>::new()
        );
    }

    #[test]
    fn malformed_headers_are_refused() {
        for text in [
            "",
            "{",
            "{}",
            "{'descr': '<f8', 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': 1, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3)", // not closed
            "{'descr': '<f8, 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9999999999, 9999999999)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)))}",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn long_and_short_files_are_refused() {
        let read = |bytes: &[u8]| Header::read(&mut &bytes[..]).unwrap_err();
        assert_eq!(read(b""), "not a NumPy array");
        assert_eq!(read(b"\x93NUMPY\x04\x00\x00\x00"), "not a NumPy array");
        assert_eq!(read(b"\x93NUMPY\x01\x00\xff\xff"), "its header is 65535 bytes long");
        assert_eq!(read(b"\x93NUMPY\x02\x00\x00\x00\x00\x01"), "its header is 16777216 bytes long");
        assert_eq!(read(b"\x93NUMPY\x01\x00\x08\x00{'"), "its header is truncated");
    }
}
