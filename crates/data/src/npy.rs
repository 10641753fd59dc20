//! NumPy arrays from untrusted streams.

use npyz::{DType, NpyFile, Order};
use std::io::{Chain, Cursor, Read, Write};

/// The maximum length of a header. NumPy rejects longer headers, too.
const MAX_HEADER_BYTES: usize = 10_000;

/// The bytes of an array: its header, already checked, and the rest.
pub type Checked<R> = Chain<Cursor<Vec<u8>>, R>;

/// Opens an array. Rejects headers that NumPy never writes but that could exhaust a parser: too
/// long, too deeply nested, or with dimensions whose product does not fit in 64 bits.
pub fn open<R: Read>(mut reader: R) -> Result<NpyFile<Checked<R>>, String> {
    let mut head = vec![0; 10];
    reader.read_exact(&mut head).map_err(|_| "not a NumPy array".to_owned())?;
    let declared = match head[..] {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, a, b] => usize::from(u16::from_le_bytes([a, b])),
        [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _, a, b] => {
            head.extend([0, 0]);
            reader.read_exact(&mut head[10..]).map_err(|_| "not a NumPy array".to_owned())?;
            u32::from_le_bytes([a, b, head[10], head[11]]) as usize
        }
        _ => return Err("not a NumPy array".into()),
    };
    if declared > MAX_HEADER_BYTES {
        return Err(format!("its header is {declared} bytes long"));
    }
    let begin = head.len();
    head.resize(begin + declared, 0);
    reader.read_exact(&mut head[begin..]).map_err(|_| "its header is truncated".to_owned())?;
    let header = head[begin..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let brackets = header.iter().filter(|byte| b"([{".contains(byte)).count();
    // Fewer than 19 digits in all: no product of dimensions can overflow.
    let digits = header.iter().filter(|byte| byte.is_ascii_digit()).count();
    if brackets > 8 || digits > 18 {
        return Err("its header does not describe a plain array".into());
    }
    NpyFile::new(Cursor::new(head).chain(reader)).map_err(|error| format!("not a NumPy array: {error}"))
}

/// Reads rows of numbers of any type, one after another.
pub(crate) struct Rows<'a> {
    values: Box<dyn Iterator<Item = std::io::Result<f64>> + 'a>,
    pub rows: u64,
    pub width: usize,
}

impl<'a> Rows<'a> {
    /// Opens an array of one or two dimensions.
    pub fn open<R: Read + 'a>(reader: R) -> Result<Self, String> {
        let array = open(reader)?;
        let (rows, width) = match *array.shape() {
            [rows] => (rows, 1),
            [rows, width] => (rows, width),
            _ => return Err(format!("it has shape {:?}, not one or two dimensions", array.shape())),
        };
        if array.order() == Order::Fortran && array.shape().len() == 2 && rows > 1 && width > 1 {
            return Err("it is stored column by column; save np.ascontiguousarray(array)".into());
        }
        let width = usize::try_from(width).map_err(|_| "it is too wide".to_owned())?;
        let DType::Plain(kind) = array.dtype() else {
            return Err(format!("its type {} is not numeric", array.dtype().descr()));
        };
        use npyz::TypeChar::{Bool, Float, Int, Uint};
        let values = match (kind.type_char(), kind.size_field()) {
            (Float, 4) => convert::<_, f32>(array, f64::from),
            (Float, 8) => convert::<_, f64>(array, |value| value),
            (Bool, 1) => convert::<_, bool>(array, |value| f64::from(u8::from(value))),
            (Int, 1) => convert::<_, i8>(array, f64::from),
            (Int, 2) => convert::<_, i16>(array, f64::from),
            (Int, 4) => convert::<_, i32>(array, f64::from),
            (Int, 8) => convert::<_, i64>(array, |value| value as f64),
            (Uint, 1) => convert::<_, u8>(array, f64::from),
            (Uint, 2) => convert::<_, u16>(array, f64::from),
            (Uint, 4) => convert::<_, u32>(array, f64::from),
            (Uint, 8) => convert::<_, u64>(array, |value| value as f64),
            (Float, _) => {
                return Err(format!(
                    "it has type {}; save it with .astype(np.float32)",
                    array.dtype().descr()
                ));
            }
            _ => return Err(format!("its type {} is not numeric", array.dtype().descr())),
        }
        .ok_or("its type cannot be read")?;
        Ok(Self { values, rows, width })
    }

    /// Reads the next row into `row`, replacing its contents.
    pub fn next_into(&mut self, row: &mut Vec<f32>) -> std::io::Result<()> {
        row.clear();
        for _ in 0..self.width {
            row.push(self.next_value()? as f32);
        }
        Ok(())
    }

    /// Reads the next number in full precision.
    pub fn next_value(&mut self) -> std::io::Result<f64> {
        let ended = || std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the array is truncated");
        self.values.next().ok_or_else(ended)?
    }
}

/// Writes a float64 array.
pub(crate) fn write(into: &mut impl Write, shape: &[u64], values: &[f64]) -> std::io::Result<()> {
    use npyz::WriterBuilder as _;
    let mut array = npyz::WriteOptions::new().default_dtype().shape(shape).writer(into).begin_nd()?;
    values.iter().try_for_each(|value| array.push(value))?;
    array.finish()
}

fn convert<'a, R: Read + 'a, T: npyz::Deserialize + 'a>(
    array: NpyFile<Checked<R>>,
    to_float: impl Fn(T) -> f64 + 'a,
) -> Option<Box<dyn Iterator<Item = std::io::Result<f64>> + 'a>> {
    let values = array.data::<T>().ok()?;
    Some(Box::new(values.map(move |value| value.map(&to_float))))
}
