//! The PNG format, for opaque pictures.

use flate2::{Compression, Crc, write::ZlibEncoder};
use std::io::Write as _;

/// Every row is stored as its difference from the row above, which is mostly zero in figures.
const FILTER_UP: u8 = 2;

/// Returns the contents of a PNG file. `rgba` has four bytes per pixel, of which the last is not
/// used.
pub fn encode(width: u32, height: u32, rgba: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // Eight bits per channel, three channels, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    push_chunk(&mut file, b"IHDR", &header);
    push_chunk(&mut file, b"IDAT", &compressed(width as usize, rgba)?);
    push_chunk(&mut file, b"IEND", &[]);
    Ok(file)
}

fn compressed(width: usize, rgba: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut above = vec![0; 3 * width];
    let (mut row, mut differences) = (Vec::with_capacity(3 * width), Vec::with_capacity(3 * width));
    for pixels in rgba.chunks_exact(4 * width) {
        row.clear();
        row.extend(pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]));
        differences.clear();
        differences
            .extend(row.iter().zip(&above).map(|(value, above): (&u8, &u8)| value.wrapping_sub(*above)));
        encoder.write_all(&[FILTER_UP])?;
        encoder.write_all(&differences)?;
        std::mem::swap(&mut row, &mut above);
    }
    encoder.finish()
}

fn push_chunk(file: &mut Vec<u8>, name: &[u8; 4], contents: &[u8]) {
    let length = u32::try_from(contents.len()).expect("the sides of a figure are bounded");
    file.extend(length.to_be_bytes());
    let begin = file.len();
    file.extend(name);
    file.extend(contents);
    let mut checksum = Crc::new();
    checksum.update(&file[begin..]);
    file.extend(checksum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn pictures_read_back() {
        let rgba = [255, 0, 0, 255, 0, 255, 0, 255, 1, 2, 3, 255, 4, 5, 6, 255];
        let file = encode(2, 2, &rgba).unwrap();
        // The last chunk of every PNG file.
        assert!(file.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
        let at = file.windows(4).position(|name| name == b"IDAT").unwrap();
        let length = u32::from_be_bytes(file[at - 4..at].try_into().unwrap()) as usize;
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&file[at + 4..at + 4 + length]).read_to_end(&mut rows).unwrap();
        let differences = [2u8, 1u8.wrapping_sub(255), 2, 3, 4, 5u8.wrapping_sub(255), 6];
        assert_eq!(rows, [&[2, 255, 0, 0, 0, 255, 0][..], &differences[..]].concat());
    }
}
