//! Arrays of numbers as text.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// An array in little-endian order, with its type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Array {
    pub fn f32(values: impl IntoIterator<Item = f32>) -> Self {
        Self { kind: "f32", bytes: values.into_iter().flat_map(f32::to_le_bytes).collect() }
    }

    pub fn u32(values: impl IntoIterator<Item = u32>) -> Self {
        Self { kind: "u32", bytes: values.into_iter().flat_map(u32::to_le_bytes).collect() }
    }

    /// The values must be below 2^16.
    pub fn u16(values: impl IntoIterator<Item = u32>) -> Self {
        let bytes = values.into_iter().flat_map(|value| {
            u16::try_from(value).expect("landmarks, lags and counts are below 2^16").to_le_bytes()
        });
        Self { kind: "u16", bytes: bytes.collect() }
    }

    /// One bit per value, the lowest bit of a byte first.
    pub fn bits(values: &[bool]) -> Self {
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        Self { kind: "u8", bytes: values.chunks(8).map(byte).collect() }
    }
}

impl Serialize for Array {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut array = serializer.serialize_struct("Array", 2)?;
        array.serialize_field("type", self.kind)?;
        array.serialize_field("base64", &encode(&self.bytes))?;
        array.end()
    }
}

/// Base64 with padding, as `atob` reads it.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let is_padding = digit > three.len();
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(if is_padding { '=' } else { char::from(DIGITS[value as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648.
    #[test]
    fn bytes_are_encoded_with_padding() {
        let words = [0, 1, 2, 3, 4, 5, 6].map(|length| &"foobar"[..length]);
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(words.map(|word| encode(word.as_bytes())), expected);
        let bits = [true, false, false, false, false, false, false, false, false, true];
        assert_eq!(Array::bits(&bits).bytes, [1, 2]);
    }
}
