//! Safetensors files: a header in JSON, then the numbers of all tensors.

use super::rows::{HINT, Visit, check_width};
use crate::{DataError, regular_file};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

const MAX_HEADER_BYTES: u64 = 64 << 20;
/// The name of the entry that is not a tensor.
const METADATA: &str = "__metadata__";

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// Passes the rows of the only matrix to `visit`, or those of vectors whose names are the indices
/// of frames.
pub(super) fn read(path: &Path, visit: Visit<'_>) -> Result<(), DataError> {
    let fail = |problem: String| DataError::malformed(path, problem, HINT);
    let mut file = regular_file::open(path).map_err(DataError::read(path))?;
    let size = file.metadata().map_err(DataError::read(path))?.len();
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(DataError::read(path))?;
    let header_bytes = u64::from_le_bytes(length);
    if header_bytes > MAX_HEADER_BYTES.min(size.saturating_sub(8)) {
        return Err(fail(format!("a header of {header_bytes} bytes")));
    }
    let mut header = vec![0; header_bytes as usize];
    file.read_exact(&mut header).map_err(DataError::read(path))?;
    let mut entries: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(&header).map_err(|error| fail(error.to_string()))?;
    entries.remove(METADATA);
    let mut rows = Vec::new();
    let n_tensors = entries.len();
    for (name, entry) in entries {
        let tensor: Tensor =
            serde_json::from_value(entry).map_err(|error| fail(format!("{name}: {error}")))?;
        let (first, n_rows, width) = match (&tensor.shape[..], name.parse::<i64>()) {
            ([n_rows, width], _) if n_tensors == 1 => (0, *n_rows, *width),
            ([width], Ok(index)) => (index, 1, *width),
            _ => return Err(fail(format!("tensor '{name}' of shape {:?} among {n_tensors}", tensor.shape))),
        };
        let bytes = Number::of(&tensor.dtype).map(Number::bytes);
        let bytes = bytes.ok_or_else(|| fail(format!("tensor '{name}' of type {}", tensor.dtype)))?;
        let [begin, end] = tensor.data_offsets;
        let declared = n_rows.checked_mul(width).and_then(|values| values.checked_mul(bytes));
        let is_inside = end.checked_add(8 + header_bytes).is_some_and(|end| end <= size);
        let fits = declared.is_some_and(|declared| begin.checked_add(declared) == Some(end));
        if !fits || !is_inside {
            return Err(fail(format!("tensor '{name}' does not fit its place in the file")));
        }
        check_width(path, usize::try_from(width).unwrap_or(usize::MAX))?;
        rows.push((first, n_rows, width as usize, tensor, 8 + header_bytes + begin));
    }
    // A few bytes could otherwise be the embeddings of millions of frames.
    rows.sort_by_key(|(.., begin)| *begin);
    let end = |(.., tensor, _): &(_, _, _, Tensor, _)| 8 + header_bytes + tensor.data_offsets[1];
    if rows.windows(2).any(|pair| end(&pair[0]) > pair[1].4) {
        return Err(fail("its tensors overlap".into()));
    }
    // Names are sorted as texts, frames as numbers.
    rows.sort_by_key(|(first, ..)| *first);
    let (mut bytes, mut row) = (Vec::new(), Vec::new());
    for (first, n_rows, width, tensor, place) in rows {
        let number = Number::of(&tensor.dtype).expect("checked above");
        file.seek(SeekFrom::Start(place)).map_err(DataError::read(path))?;
        let mut reader = std::io::BufReader::with_capacity(1 << 20, &file);
        for at in 0..n_rows {
            bytes.resize(width * number.bytes() as usize, 0);
            reader.read_exact(&mut bytes).map_err(DataError::read(path))?;
            row.clear();
            row.extend(bytes.chunks_exact(number.bytes() as usize).map(|bytes| number.value(bytes)));
            visit(first + at as i64, &row)?;
        }
    }
    Ok(())
}

/// A type of floating-point numbers.
#[derive(Clone, Copy)]
enum Number {
    F16,
    Bf16,
    F32,
    F64,
}

impl Number {
    fn of(name: &str) -> Option<Self> {
        match name {
            "F16" => Some(Self::F16),
            "BF16" => Some(Self::Bf16),
            "F32" => Some(Self::F32),
            "F64" => Some(Self::F64),
            _ => None,
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn value(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::Bf16, &[a, b]) => f32::from_le_bytes([0, 0, a, b]),
            (Self::F16, &[a, b]) => half(u16::from_le_bytes([a, b])),
            (Self::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            (_, &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32,
            _ => f32::NAN,
        }
    }
}

/// Converts a float16.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023) / 1024.0);
    match exponent {
        0 => sign * fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction) * 2f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(header: &str, data: &[u8]) -> Result<Vec<(i64, Vec<f32>)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat();
        std::fs::write(&path, bytes).unwrap();
        let mut rows = Vec::new();
        let mut visit = |index: i64, row: &[f32]| {
            rows.push((index, row.to_vec()));
            Ok(())
        };
        read(&path, &mut visit).map_err(|error| error.to_string())?;
        Ok(rows)
    }

    #[test]
    fn a_matrix_and_vectors_by_frame() {
        let data: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].into_iter().flat_map(f32::to_le_bytes).collect();
        let matrix = r#"{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
        assert_eq!(rows(matrix, &data).unwrap(), [(0, vec![1.0, 2.0]), (1, vec![3.0, 4.0])]);
        let vectors = r#"{"10":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"9":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#;
        assert_eq!(rows(vectors, &data).unwrap(), [(9, vec![3.0, 4.0]), (10, vec![1.0, 2.0])]);
        let half = r#"{"x":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}}"#;
        assert_eq!(rows(half, &[0x00, 0x3c, 0x00, 0xc1]).unwrap(), [(0, vec![1.0, -2.5])]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        for header in [
            r#"{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,8]}}"#,
            r#"{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}}"#,
            r#"{"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}"#,
            r#"{"x":{"dtype":"F32","shape":[1,2],"data_offsets":[18446744073709551608,0]}}"#,
            // Neither the size nor the place can be computed.
            r#"{"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[18446744073709551610,4]}}"#,
            r#"{"0":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"1":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#,
            r#"{"0":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"1":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#,
            r#"{"x":{"dtype":"I64","shape":[1,1],"data_offsets":[0,8]}}"#,
            r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#,
            r#"{"x":{"dtype":"F32","shape":[5,0],"data_offsets":[0,0]}}"#,
            "not json",
        ] {
            assert!(rows(header, &[0; 16]).is_err(), "{header}");
        }
    }
}
