//! The letters of the bundled TrueType font: their outlines and widths.

use tiny_skia::{Path, PathBuilder, Transform};

/// The typeface of all labels, so that pictures look the same on machines without fonts. It has
/// short offsets (`indexToLocFormat` 0) and a character map of format 4.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");
/// Accented letters consist of a letter and an accent.
const MAX_NESTING: u32 = 4;

/// The tables of the font.
pub struct Font {
    outlines: &'static [u8],
    offsets: &'static [u8],
    characters: &'static [u8],
    widths: &'static [u8],
    n_widths: usize,
    units_per_em: f32,
}

impl Font {
    pub fn bundled() -> Self {
        let [outlines, offsets, cmap, widths, head, hhea] =
            [b"glyf", b"loca", b"cmap", b"hmtx", b"head", b"hhea"].map(table);
        // The first entry is the Unicode map.
        let characters = &cmap[long(cmap, 8)..];
        let (n_widths, units_per_em) = (short(hhea, 34), short(head, 18));
        Self {
            outlines,
            offsets,
            characters,
            widths,
            n_widths: n_widths.into(),
            units_per_em: units_per_em.into(),
        }
    }

    /// The width of a line of text.
    pub fn width(&self, line: &str, size: f32) -> f32 {
        line.chars().map(|letter| self.advance(self.glyph(letter))).sum::<f32>() * size / self.units_per_em
    }

    /// The outlines of a line of text that begins at a position; `None` if it is blank.
    pub fn outline(&self, line: &str, size: f32, [mut x, y]: [f32; 2]) -> Option<Path> {
        let mut builder = PathBuilder::new();
        let scale = size / self.units_per_em;
        for letter in line.chars() {
            let glyph = self.glyph(letter);
            let place = Transform::from_row(scale, 0.0, 0.0, -scale, x, y);
            self.push_glyph(&mut builder, glyph, place, MAX_NESTING);
            x += scale * self.advance(glyph);
        }
        builder.finish()
    }

    /// The number of the glyph of a character; 0, an empty box, if there is none.
    fn glyph(&self, letter: char) -> u16 {
        let Ok(code) = u16::try_from(u32::from(letter)) else { return 0 };
        let map = self.characters;
        let columns = usize::from(short(map, 6));
        let (ends, starts) = (14, 16 + columns);
        let (deltas, ranges) = (starts + columns, starts + 2 * columns);
        let Some(at) = (0..columns).step_by(2).find(|&at| short(map, ends + at) >= code) else { return 0 };
        let (start, delta, range) =
            (short(map, starts + at), short(map, deltas + at), short(map, ranges + at));
        if start > code {
            return 0;
        }
        if range == 0 {
            return code.wrapping_add(delta);
        }
        match short(map, ranges + at + usize::from(range) + 2 * usize::from(code - start)) {
            0 => 0,
            glyph => glyph.wrapping_add(delta),
        }
    }

    /// The width of a glyph in font units. The last width is that of all later glyphs.
    fn advance(&self, glyph: u16) -> f32 {
        short(self.widths, 4 * usize::from(glyph).min(self.n_widths - 1)).into()
    }

    fn push_glyph(&self, builder: &mut PathBuilder, glyph: u16, place: Transform, nesting: u32) {
        let at = |index: u16| 2 * usize::from(short(self.offsets, 2 * usize::from(index)));
        let data = &self.outlines[at(glyph)..at(glyph + 1)];
        if data.is_empty() || nesting == 0 {
            return;
        }
        match usize::try_from(signed(data, 0)) {
            Ok(contours) => push_contours(builder, data, contours, place),
            Err(_) => self.push_parts(builder, data, place, nesting - 1),
        }
    }

    /// Adds a glyph that consists of others.
    fn push_parts(&self, builder: &mut PathBuilder, data: &[u8], place: Transform, nesting: u32) {
        let mut at = 10;
        loop {
            let (flags, glyph) = (short(data, at), short(data, at + 2));
            at += 4;
            let (x, y) = if flags & 1 != 0 {
                at += 4;
                (signed(data, at - 4), signed(data, at - 2))
            } else {
                at += 2;
                (i16::from(data[at - 2] as i8), i16::from(data[at - 1] as i8))
            };
            // Fixed-point numbers with 14 bits after the point.
            let mut factor = || {
                at += 2;
                f32::from(signed(data, at - 2)) / 16384.0
            };
            let [sx, ky, kx, sy] = match flags & 0xc8 {
                0x08 => {
                    let scale = factor();
                    [scale, 0.0, 0.0, scale]
                }
                0x40 => [factor(), 0.0, 0.0, factor()],
                0x80 => [factor(), factor(), factor(), factor()],
                _ => [1.0, 0.0, 0.0, 1.0],
            };
            let part = Transform::from_row(sx, ky, kx, sy, x.into(), y.into());
            self.push_glyph(builder, glyph, place.pre_concat(part), nesting);
            if flags & 0x20 == 0 {
                return;
            }
        }
    }
}

/// A point of a contour, and whether the curve passes through it.
type Node = ([f32; 2], bool);

/// Adds the contours of a glyph: quadratic splines.
fn push_contours(builder: &mut PathBuilder, data: &[u8], n_contours: usize, place: Transform) {
    let ends: Vec<usize> = (0..n_contours).map(|k| usize::from(short(data, 10 + 2 * k)) + 1).collect();
    let nodes = nodes(data, 10 + 2 * n_contours, ends.last().copied().unwrap_or(0), place);
    let mut begin = 0;
    for end in ends {
        push_contour(builder, &nodes[begin..end]);
        begin = end;
    }
}

/// Decodes the points of a glyph from their flags and differences.
fn nodes(data: &[u8], mut at: usize, n: usize, place: Transform) -> Vec<Node> {
    // Hinting instructions are skipped.
    at += 2 + usize::from(short(data, at));
    let mut flags = Vec::with_capacity(n);
    while flags.len() < n {
        let flag = data[at];
        at += 1;
        let repeats = if flag & 8 != 0 { usize::from(data[at]) } else { 0 };
        at += usize::from(flag & 8 != 0);
        flags.extend(std::iter::repeat_n(flag, 1 + repeats));
    }
    let mut coordinates = |is_short: u8, is_same: u8| -> Vec<f32> {
        let mut value = 0i16;
        let next = flags.iter().map(|flag| {
            match (flag & is_short != 0, flag & is_same != 0) {
                (true, is_positive) => {
                    let step = i16::from(data[at]);
                    at += 1;
                    value += if is_positive { step } else { -step };
                }
                (false, true) => {}
                (false, false) => {
                    value += signed(data, at);
                    at += 2;
                }
            }
            f32::from(value)
        });
        next.collect()
    };
    let (x, y) = (coordinates(2, 16), coordinates(4, 32));
    let placed = |x: f32, y: f32| {
        let mut point = tiny_skia::Point::from_xy(x, y);
        place.map_point(&mut point);
        [point.x, point.y]
    };
    flags.iter().zip(x.into_iter().zip(y)).map(|(flag, (x, y))| (placed(x, y), flag & 1 != 0)).collect()
}

/// Adds a closed spline. Between two control points, it passes through their middle.
fn push_contour(builder: &mut PathBuilder, nodes: &[Node]) {
    let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else { return };
    let middle = |a: [f32; 2], b: [f32; 2]| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
    let (start, rest) = match (first.1, last.1) {
        (true, _) => (first.0, &nodes[1..]),
        (false, true) => (last.0, &nodes[..nodes.len() - 1]),
        (false, false) => (middle(last.0, first.0), nodes),
    };
    builder.move_to(start[0], start[1]);
    let mut control: Option<[f32; 2]> = None;
    for &(point, is_on_curve) in rest.iter().chain([&(start, true)]) {
        match (control, is_on_curve) {
            (None, true) => builder.line_to(point[0], point[1]),
            (None, false) => control = Some(point),
            (Some([x, y]), true) => {
                builder.quad_to(x, y, point[0], point[1]);
                control = None;
            }
            (Some(before), false) => {
                let [x, y] = middle(before, point);
                builder.quad_to(before[0], before[1], x, y);
                control = Some(point);
            }
        }
    }
    builder.close();
}

/// The contents of a table.
fn table(name: &[u8; 4]) -> &'static [u8] {
    let n_tables = usize::from(short(FONT, 4));
    let entry = (0..n_tables).map(|k| 12 + 16 * k).find(|&at| FONT[at..].starts_with(name));
    let at = entry.expect("the font has this table");
    &FONT[long(FONT, at + 8)..][..long(FONT, at + 12)]
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn signed(bytes: &[u8], at: usize) -> i16 {
    short(bytes, at) as i16
}

fn long(bytes: &[u8], at: usize) -> usize {
    usize::from(short(bytes, at)) << 16 | usize::from(short(bytes, at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_has_an_outline_within_its_box() {
        let font = Font::bundled();
        let identity = Transform::identity();
        for glyph in 0..(font.offsets.len() / 2 - 1) as u16 {
            let mut builder = PathBuilder::new();
            font.push_glyph(&mut builder, glyph, identity, MAX_NESTING);
            let at = 2 * usize::from(short(font.offsets, 2 * usize::from(glyph)));
            let Some(path) = builder.finish() else { continue };
            let data = &font.outlines[at..];
            let [left, bottom, right, top] = [2, 4, 6, 8].map(|at| f32::from(signed(data, at)));
            let bounds = path.compute_tight_bounds().unwrap();
            let found = [bounds.left(), bounds.top(), bounds.right(), bounds.bottom()];
            for (found, declared) in found.into_iter().zip([left, bottom, right, top]) {
                assert!((found - declared).abs() <= 2.0, "glyph {glyph}: {found} instead of {declared}");
            }
        }
    }

    #[test]
    fn letters_have_the_widths_of_the_font() {
        let font = Font::bundled();
        // Advances of DejaVu Sans.
        for (letter, width) in [('i', 569.0), ('m', 1995.0), (' ', 651.0), ('0', 1303.0), ('W', 2025.0)] {
            assert_eq!(font.advance(font.glyph(letter)), width, "{letter}");
        }
        assert_eq!(font.width("im", 2048.0), 2564.0);
        assert_ne!(font.glyph('…'), 0);
        assert_ne!(font.glyph('é'), 0);
        assert_eq!(font.glyph('漢'), 0);
        assert_eq!(font.glyph('🚀'), 0);
        assert!(font.outline("  ", 12.0, [0.0; 2]).is_none());
        assert!(font.outline("漢é", 12.0, [0.0; 2]).is_some());
    }
}
