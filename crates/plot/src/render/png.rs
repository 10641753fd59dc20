//! The PNG format, for opaque figures.

/// Returns the contents of a PNG file. `rgba` has four bytes per pixel, of which the last is not
/// used.
pub fn encode(width: u32, height: u32, rgba: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    let rgb: Vec<u8> = rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_back() {
        let rgba = [255, 0, 0, 255, 0, 255, 0, 255, 1, 2, 3, 255, 4, 5, 6, 255];
        let file = encode(2, 2, &rgba).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut rgb).unwrap();
        assert_eq!((frame.width, frame.height, frame.color_type), (2, 2, png::ColorType::Rgb));
        assert_eq!(rgb, [255, 0, 0, 0, 255, 0, 1, 2, 3, 4, 5, 6]);
    }
}
