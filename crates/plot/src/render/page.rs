//! Draws the elements of a document, one after another.

use super::{
    font::Font,
    path,
    style::{Anchor, Ink, Style, number},
};
use std::collections::HashMap;
use svg::{
    node::{Attributes, element::tag::Type},
    parser::{Event, Parser},
};
use tiny_skia::{FillRule, FilterQuality, Mask, Paint, Path, Pattern, Pixmap, SpreadMode, Transform};

/// More nested groups than any figure has.
const MAX_DEPTH: usize = 64;

/// Renders a document; `scale` returns the number of pixels per unit from the width and height.
pub fn render(svg: &str, scale: impl FnOnce([f32; 2]) -> f32) -> Result<Pixmap, String> {
    let mut events = Parser::new(svg);
    let attributes = match events.next() {
        Some(Event::Tag("svg", Type::Start, attributes)) => attributes,
        _ => return Err("it is not an SVG document".to_owned()),
    };
    let size = [number(&attributes, "width")?, number(&attributes, "height")?];
    let scale = scale(size);
    let [width, height] = size.map(|side| (side * scale).ceil() as u32);
    let page = Pixmap::new(width, height).ok_or("the figure is empty")?;
    let transform = Transform::from_scale(scale, scale);
    let root = Level { style: Style::default().with(&attributes)?, transform, clip: None, at: [0.0; 2] };
    let mut renderer = Renderer {
        page,
        size,
        scale,
        font: Font::bundled(),
        open: vec![root],
        definition: None,
        patterns: HashMap::new(),
        clips: HashMap::new(),
    };
    for event in events {
        match event {
            Event::Tag(name, Type::End, _) => renderer.close(name),
            Event::Tag(name, kind, attributes) => renderer.open(name, kind, &attributes)?,
            Event::Text(content) => renderer.text(content),
            Event::Error(error) => return Err(error.to_string()),
            Event::Comment(_) | Event::Declaration(_) | Event::Instruction(_) => {}
        }
    }
    Ok(renderer.page)
}

/// An element whose end has not been reached.
#[derive(Clone)]
struct Level {
    style: Style,
    transform: Transform,
    /// The name of the clip path.
    clip: Option<String>,
    /// The position of a text.
    at: [f32; 2],
}

/// What shapes are drawn on inside of `defs`.
enum Definition {
    Pattern(String, Pixmap),
    Clip(String, Mask),
}

struct Renderer {
    page: Pixmap,
    size: [f32; 2],
    scale: f32,
    font: Font,
    open: Vec<Level>,
    definition: Option<Definition>,
    /// Tiles, rendered at the scale of the page.
    patterns: HashMap<String, Pixmap>,
    clips: HashMap<String, Mask>,
}

impl Renderer {
    fn open(&mut self, name: &str, kind: Type, attributes: &Attributes) -> Result<(), String> {
        let parent = self.open.last().ok_or("it has elements after its end")?;
        let mut level = parent.clone();
        level.style = parent.style.with(attributes)?;
        if let Some(text) = attributes.get("transform") {
            level.transform = parent.transform.pre_concat(path::transform(text)?);
        }
        if let Some(text) = attributes.get("clip-path") {
            level.clip =
                text.strip_prefix("url(#").and_then(|text| text.strip_suffix(')')).map(str::to_owned);
        }
        let id = || attributes.get("id").map_or("", |id| &**id).to_owned();
        match name {
            "g" | "defs" => {}
            "text" => level.at = [number(attributes, "x")?, number(attributes, "y")?],
            "pattern" => {
                let sides = [number(attributes, "width")?, number(attributes, "height")?];
                let [width, height] = sides.map(|side| (side * self.scale).round() as u32);
                let tile = Pixmap::new(width, height).ok_or("a pattern is empty")?;
                level.transform = Transform::from_scale(self.scale, self.scale);
                self.definition = Some(Definition::Pattern(id(), tile));
            }
            "clipPath" => {
                let mask = Mask::new(self.page.width(), self.page.height()).ok_or("the figure is empty")?;
                self.definition = Some(Definition::Clip(id(), mask));
            }
            _ => {
                if let Some(path) = path::of_element(name, attributes, self.size)? {
                    self.draw(&path, &level, !level.style.is_crisp);
                }
            }
        }
        if kind == Type::Start {
            if self.open.len() == MAX_DEPTH {
                return Err("its groups are nested too deeply".to_owned());
            }
            self.open.push(level);
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        self.open.pop();
        if matches!(name, "pattern" | "clipPath") {
            match self.definition.take() {
                Some(Definition::Pattern(id, tile)) => drop(self.patterns.insert(id, tile)),
                Some(Definition::Clip(id, mask)) => drop(self.clips.insert(id, mask)),
                None => {}
            }
        }
    }

    fn text(&mut self, content: &str) {
        let Some(level) = self.open.last().cloned() else { return };
        let words: Vec<&str> = content.split_whitespace().collect();
        let line = words.join(" ").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let size = level.style.font_size;
        let width = self.font.width(&line, size);
        let start = match level.style.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        if let Some(path) = self.font.outline(&line, size, [level.at[0] - start, level.at[1]]) {
            self.draw(&path, &level, true);
        }
    }

    fn draw(&mut self, path: &Path, level: &Level, is_smooth: bool) {
        let (pixels, clip) = match &mut self.definition {
            Some(Definition::Clip(_, mask)) => {
                mask.fill_path(path, FillRule::Winding, true, level.transform);
                return;
            }
            Some(Definition::Pattern(_, tile)) => (tile, None),
            None => (&mut self.page, level.clip.as_ref().and_then(|name| self.clips.get(name))),
        };
        let style = &level.style;
        let fill = paint(&style.fill, style.fill_opacity, is_smooth, &self.patterns, self.scale);
        let stroke = paint(&style.stroke, style.stroke_opacity, is_smooth, &self.patterns, self.scale);
        let fill_path = |pixels: &mut Pixmap| {
            // A line has no inside.
            let bounds = path.bounds();
            if let Some(paint) = fill.filter(|_| bounds.width() > 0.0 && bounds.height() > 0.0) {
                pixels.fill_path(path, &paint, FillRule::Winding, level.transform, clip);
            }
        };
        let stroke_path = |pixels: &mut Pixmap| {
            if let Some(paint) = stroke {
                pixels.stroke_path(path, &paint, &style.pen, level.transform, clip);
            }
        };
        if style.is_stroked_first {
            stroke_path(pixels);
            fill_path(pixels);
        } else {
            fill_path(pixels);
            stroke_path(pixels);
        }
    }
}

/// Returns the paint of an ink; `None` if nothing is to be painted.
fn paint<'p>(
    ink: &Ink,
    opacity: f32,
    is_smooth: bool,
    patterns: &'p HashMap<String, Pixmap>,
    scale: f32,
) -> Option<Paint<'p>> {
    let mut paint = Paint { anti_alias: is_smooth, ..Paint::default() };
    match ink {
        Ink::None => return None,
        Ink::Color([red, green, blue]) => {
            paint.set_color_rgba8(*red, *green, *blue, (255.0 * opacity).round() as u8);
        }
        Ink::Pattern(name) => {
            let (tile, shrink) =
                (patterns.get(name)?.as_ref(), Transform::from_scale(1.0 / scale, 1.0 / scale));
            paint.shader = Pattern::new(tile, SpreadMode::Repeat, FilterQuality::Bicubic, opacity, shrink);
        }
    }
    Some(paint)
}
