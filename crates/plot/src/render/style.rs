//! The attributes of an element that its children inherit.

use svg::node::Attributes;
use tiny_skia::{LineCap, LineJoin, Stroke, StrokeDash};

/// What an area or a line is painted with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ink {
    None,
    Color([u8; 3]),
    /// The name of a pattern.
    Pattern(String),
}

/// The part of a text that is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Inherited attributes.
#[derive(Debug, Clone)]
pub struct Style {
    pub fill: Ink,
    pub fill_opacity: f32,
    pub stroke: Ink,
    pub stroke_opacity: f32,
    pub pen: Stroke,
    /// Whether the stroke is below the fill.
    pub is_stroked_first: bool,
    /// Whether edges are not smoothed.
    pub is_crisp: bool,
    pub font_size: f32,
    pub anchor: Anchor,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            fill: Ink::Color([0; 3]),
            fill_opacity: 1.0,
            stroke: Ink::None,
            stroke_opacity: 1.0,
            pen: Stroke::default(),
            is_stroked_first: false,
            is_crisp: false,
            font_size: 12.0,
            anchor: Anchor::Start,
        }
    }
}

impl Style {
    /// The style of a child with these attributes.
    pub fn with(&self, attributes: &Attributes) -> Result<Self, String> {
        let mut style = self.clone();
        for (name, value) in attributes {
            let value: &str = value;
            match name.as_str() {
                "fill" => style.fill = ink(value)?,
                "fill-opacity" => style.fill_opacity = parse(name, value)?,
                "stroke" => style.stroke = ink(value)?,
                "stroke-opacity" => style.stroke_opacity = parse(name, value)?,
                "stroke-width" => style.pen.width = parse(name, value)?,
                "stroke-dasharray" => style.pen.dash = dashes(value),
                "stroke-linecap" if value == "round" => style.pen.line_cap = LineCap::Round,
                "stroke-linejoin" if value == "round" => style.pen.line_join = LineJoin::Round,
                "paint-order" => style.is_stroked_first = value == "stroke",
                "shape-rendering" => style.is_crisp = value == "crispEdges",
                "font-size" => style.font_size = parse(name, value)?,
                "text-anchor" => {
                    style.anchor = match value {
                        "middle" => Anchor::Middle,
                        "end" => Anchor::End,
                        _ => Anchor::Start,
                    }
                }
                _ => {}
            }
        }
        Ok(style)
    }
}

/// Returns the number of an attribute; 0 if it is absent.
pub fn number(attributes: &Attributes, name: &str) -> Result<f32, String> {
    attributes.get(name).map_or(Ok(0.0), |value| parse(name, value))
}

fn parse(name: &str, value: &str) -> Result<f32, String> {
    value.parse().map_err(|_| format!("{name} is {value}, not a number"))
}

/// Numbers that are separated by spaces or commas.
pub fn numbers(text: &str) -> Result<Vec<f32>, String> {
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    words.map(|word| word.parse().map_err(|_| format!("'{word}' is not a number"))).collect()
}

fn ink(text: &str) -> Result<Ink, String> {
    if text == "none" {
        return Ok(Ink::None);
    }
    if let Some(name) = text.strip_prefix("url(#").and_then(|text| text.strip_suffix(')')) {
        return Ok(Ink::Pattern(name.to_owned()));
    }
    let is_code = |code: &&str| code.len() == 6 && code.bytes().all(|digit| digit.is_ascii_hexdigit());
    let code = text.strip_prefix('#').filter(is_code);
    let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
    let [_, color @ ..] = code.ok_or_else(|| format!("the color {text} is unknown"))?.to_be_bytes();
    Ok(Ink::Color(color))
}

/// Returns the lengths of dashes and gaps; `None` for a solid line.
fn dashes(text: &str) -> Option<StrokeDash> {
    let mut lengths = numbers(text).ok()?;
    if lengths.len() % 2 == 1 {
        lengths.extend_from_within(..);
    }
    StrokeDash::new(lengths, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inks() {
        assert_eq!(ink("none"), Ok(Ink::None));
        assert_eq!(ink("#0a80ff"), Ok(Ink::Color([10, 128, 255])));
        assert_eq!(ink("url(#unreachable)"), Ok(Ink::Pattern("unreachable".into())));
        assert!(ink("#ffé").is_err() && ink("#+12345").is_err() && ink("reddish").is_err());
    }

    #[test]
    fn dashes_alternate_with_gaps() {
        assert!(dashes("none").is_none() && dashes("").is_none() && dashes("0 0").is_none());
        assert_eq!(dashes("5 4"), StrokeDash::new(vec![5.0, 4.0], 0.0));
        assert_eq!(dashes("1,2,3"), StrokeDash::new(vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0], 0.0));
    }
}
