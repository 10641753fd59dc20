//! NumPy arrays (`.npy`) from untrusted streams.

mod header;
mod number;
mod rows;

pub use header::Header;
pub use number::{Kind, NumberType};
pub(crate) use rows::Rows;
use std::io::Write;

/// Writes a float64 array.
pub(crate) fn write(into: &mut impl Write, shape: &[u64], values: &[f64]) -> std::io::Result<()> {
    Header::row_major("<f8", shape).write(into)?;
    values.iter().try_for_each(|value| into.write_all(&value.to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use npyz::{NpyFile, WriteOptions, WriterBuilder as _};
    use std::io::Cursor;

    /// The bytes that the crate npyz writes for values of a type.
    fn written<T: npyz::AutoSerialize + npyz::Serialize>(shape: &[u64], values: &[T]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let options = WriteOptions::new().default_dtype().shape(shape);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        values.iter().for_each(|value| writer.push(value).unwrap());
        writer.finish().unwrap();
        bytes.into_inner()
    }

    fn assert_read<T: npyz::AutoSerialize + npyz::Serialize + Copy>(values: &[T], expected: &[f64]) {
        let bytes = written(&[values.len() as u64 / 2, 2], values);
        let mut rows = Rows::open(&bytes[..]).unwrap();
        assert_eq!((rows.rows, rows.width), (values.len() as u64 / 2, 2));
        let read: Vec<f64> = expected.iter().map(|_| rows.next_value().unwrap()).collect();
        assert_eq!(read, expected);
        let end = rows.next_value().unwrap_err();
        assert_eq!(end.kind(), std::io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn every_numeric_type_is_read() {
        assert_read(&[1.5f32, -0.1], &[1.5, f64::from(-0.1f32)]);
        assert_read(&[1e300, f64::NEG_INFINITY], &[1e300, f64::NEG_INFINITY]);
        assert_read(&[true, false], &[1.0, 0.0]);
        assert_read(&[i8::MIN, i8::MAX], &[-128.0, 127.0]);
        assert_read(&[i16::MIN, 258], &[-32768.0, 258.0]);
        assert_read(&[i32::MIN, 66051], &[-2_147_483_648.0, 66051.0]);
        assert_read(&[i64::MIN, 1 << 40], &[-9_223_372_036_854_775_808.0, 1_099_511_627_776.0]);
        assert_read(&[0u8, 255], &[0.0, 255.0]);
        assert_read(&[0u16, 65535], &[0.0, 65535.0]);
        assert_read(&[7u32, u32::MAX], &[7.0, 4_294_967_295.0]);
        assert_read(&[7u64, u64::MAX], &[7.0, u64::MAX as f64]);
    }

    #[test]
    fn the_other_byte_order_is_read() {
        let mut bytes = Vec::new();
        Header::row_major(">i4", &[2]).write(&mut bytes).unwrap();
        bytes.extend([1i32, -2].iter().flat_map(|value| value.to_be_bytes()));
        let mut rows = Rows::open(&bytes[..]).unwrap();
        assert_eq!([rows.next_value().unwrap(), rows.next_value().unwrap()], [1.0, -2.0]);
    }

    #[test]
    fn written_arrays_are_read_by_another_reader() {
        let read = |bytes: &[u8]| {
            let file = NpyFile::new(bytes).unwrap();
            let shape = file.shape().to_vec();
            (shape, file.data::<f64>().unwrap().collect::<std::io::Result<Vec<f64>>>().unwrap())
        };
        let values = [1.0, -2.5, f64::INFINITY, 1e-300, 0.1, 6.0];
        for shape in [&[6][..], &[2, 3], &[1, 2, 3]] {
            let mut bytes = Vec::new();
            write(&mut bytes, shape, &values).unwrap();
            // Data begin at a multiple of 64 bytes, like those of NumPy.
            assert_eq!((bytes.len() - 8 * values.len()) % 64, 0);
            assert_eq!(read(&bytes), (shape.to_vec(), values.to_vec()));
        }
        let mut bytes = Vec::new();
        write(&mut bytes, &[], &[4.5]).unwrap();
        assert_eq!(read(&bytes), (vec![], vec![4.5]));
    }

    #[test]
    fn flags_are_zero_or_one() {
        let mut bytes = Vec::new();
        Header::row_major("|b1", &[1]).write(&mut bytes).unwrap();
        bytes.push(2);
        let error = Rows::open(&bytes[..]).unwrap().next_value().unwrap_err();
        assert!(error.to_string().contains("2 is not a boolean"), "{error}");
    }

    #[test]
    fn other_types_are_refused() {
        let problem = |descr: &str| {
            let mut bytes = Vec::new();
            Header::row_major(descr, &[1]).write(&mut bytes).unwrap();
            bytes.extend([0; 16]);
            Rows::open(&bytes[..]).err().unwrap()
        };
        assert!(
            problem("<f2").contains("type '<f2'; save it with .astype(np.float32)"),
            "{}",
            problem("<f2")
        );
        for descr in ["|S3", "<U4", "|O", "<c8", "<m8[s]", "<i3", "f8", "", "é"] {
            assert!(problem(descr).contains("not numeric"), "{descr}: {}", problem(descr));
        }
    }
}
