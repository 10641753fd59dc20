//! The letters of the bundled font: their outlines and widths.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The typeface of all labels, so that figures look the same on machines without fonts.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// The bundled font.
pub struct Font(Face<'static>);

impl Font {
    pub fn bundled() -> Self {
        Self(Face::parse(FONT, 0).expect("the bundled font is a TrueType font"))
    }

    /// The width of a line of text.
    pub fn width(&self, line: &str, size: f32) -> f32 {
        line.chars().map(|letter| self.advance(self.glyph(letter))).sum::<f32>() * self.scale(size)
    }

    /// The outlines of a line of text that begins at a position; `None` if it is blank.
    pub fn outline(&self, line: &str, size: f32, [x, y]: [f32; 2]) -> Option<Path> {
        let scale = self.scale(size);
        let mut outline = Outline { builder: PathBuilder::new(), scale, x, y };
        for letter in line.chars() {
            let glyph = self.glyph(letter);
            self.0.outline_glyph(glyph, &mut outline);
            outline.x += scale * self.advance(glyph);
        }
        outline.builder.finish()
    }

    /// The glyph of a character; an empty box if there is none.
    fn glyph(&self, letter: char) -> GlyphId {
        self.0.glyph_index(letter).unwrap_or_default()
    }

    /// The width of a glyph in font units.
    fn advance(&self, glyph: GlyphId) -> f32 {
        self.0.glyph_hor_advance(glyph).unwrap_or_default().into()
    }

    fn scale(&self, size: f32) -> f32 {
        size / f32::from(self.0.units_per_em())
    }
}

/// Places the outlines of glyphs, whose vertical axis points up, in a figure.
struct Outline {
    builder: PathBuilder,
    scale: f32,
    x: f32,
    y: f32,
}

impl Outline {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, self.y - self.scale * y)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_the_widths_of_the_font() {
        let font = Font::bundled();
        // Advances of DejaVu Sans.
        for (letter, width) in [('i', 569.0), ('m', 1995.0), (' ', 651.0), ('0', 1303.0), ('W', 2025.0)] {
            assert_eq!(font.advance(font.glyph(letter)), width, "{letter}");
        }
        assert_eq!(font.width("im", 2048.0), 2564.0);
        for (letter, is_known) in [('…', true), ('é', true), ('漢', false), ('🚀', false)] {
            assert_eq!(font.glyph(letter) != GlyphId(0), is_known, "{letter}");
        }
        assert!(font.outline("  ", 12.0, [0.0; 2]).is_none());
        assert!(font.outline("漢é", 12.0, [0.0; 2]).is_some());
    }
}
