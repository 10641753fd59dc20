//! Figures as files.

use crate::{lettering, palette, render, shapes::text};
use std::path::{Path, PathBuf};
use svg::{Document, node::element::Rectangle};
use thiserror::Error;

/// The family of the bundled font, and the fallbacks of a browser.
const FONT_FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";
/// PNGs have two pixels per SVG unit, for sharp text on dense displays.
const PNG_PIXELS_PER_UNIT: f32 = 2.0;
/// The longest side of a PNG, in pixels.
const MAX_PNG_SIDE: f32 = 8192.0;
/// The margin around a figure.
pub(super) const MARGIN: f64 = 16.0;

/// The reason why a figure could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The file name has no known extension.
    #[error("{}: unknown figure format; hint: use the extension .svg or .png", .0.display())]
    UnknownFormat(PathBuf),
    /// The SVG could not be rendered.
    #[error("{}: the figure cannot be rendered: {reason}; hint: write an .svg instead", path.display())]
    Render {
        /// The file.
        path: PathBuf,
        /// The renderer's message.
        reason: String,
    },
    /// The file could not be written.
    #[error("{}: {source}; hint: check that the folder exists and can be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// The reason why a figure could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the figure cannot be rendered: {reason}; hint: use its SVG instead")]
pub struct RenderError {
    /// The renderer's message.
    pub reason: String,
}

/// A drawn figure.
#[derive(Debug, Clone)]
pub struct Figure {
    svg: String,
}

/// An empty document with the typeface of all labels.
pub(super) fn sheet(width: f64, height: f64) -> Document {
    Document::new()
        .set("viewBox", (0, 0, width as u32, height as u32))
        .set("width", width)
        .set("height", height)
        .set("font-family", FONT_FAMILY)
}

/// The background of a figure.
pub(super) fn paper() -> Rectangle {
    Rectangle::new().set("width", "100%").set("height", "100%").set("fill", palette::PAPER)
}

/// The font size of notes, and the distance between their lines.
pub(super) const NOTE_SIZE: f64 = 11.0;
const NOTE_LINE: f64 = 15.0;

/// A document with a title, shortened to its width, and a note in as many lines as it needs.
pub(super) fn titled(width: f64, height: f64, title: &str, note: &str) -> Document {
    let title = lettering::shortened(title, width - 2.0 * MARGIN, 15.0);
    let mut document = sheet(width, height).add(paper()).add(text(&title, (MARGIN, 26.0), 15.0, "start"));
    for (k, line) in note_lines(note, width).iter().enumerate() {
        document = document.add(text(line, (MARGIN, 44.0 + NOTE_LINE * k as f64), NOTE_SIZE, "start"));
    }
    document
}

/// The height of the title and the note.
pub(super) fn header_height(note: &str, width: f64) -> f64 {
    match note_lines(note, width).len() {
        0 => 36.0,
        lines => 54.0 + NOTE_LINE * (lines - 1) as f64,
    }
}

fn note_lines(note: &str, width: f64) -> Vec<String> {
    lettering::wrapped(note, width - 2.0 * MARGIN, NOTE_SIZE)
}

impl Figure {
    pub(super) fn new(document: &Document) -> Self {
        Self { svg: format!("{document}\n") }
    }

    /// Returns the figure as an SVG document.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The width in SVG units.
    pub(super) fn width(&self) -> f64 {
        let size = self.svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split(' ').next());
        size.and_then(|width| width.parse().ok()).unwrap_or_default()
    }

    /// Checks that a file name has a known extension and that its folder exists, so that a command
    /// fails before it does any work.
    pub fn check_path(path: &Path) -> Result<(), PlotError> {
        is_png(path)?;
        match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
                let source = std::io::Error::new(std::io::ErrorKind::NotFound, "its folder does not exist");
                Err(PlotError::Write { path: path.into(), source })
            }
            _ => Ok(()),
        }
    }

    /// Writes the figure in the format of the file's extension.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        let bytes = match is_png(path)? {
            true => {
                self.png().map_err(|error| PlotError::Render { path: path.into(), reason: error.reason })?
            }
            false => self.svg.clone().into_bytes(),
        };
        isochrone_data::atomic::write(path, &bytes)
            .map_err(|source| PlotError::Write { path: path.into(), source })
    }

    /// Creates a figure from the SVG document of another one.
    pub fn from_svg(svg: String) -> Self {
        Self { svg }
    }

    /// Renders the figure as the contents of a PNG file.
    ///
    /// # Errors
    /// If the document is not a figure of this crate.
    pub fn png(&self) -> Result<Vec<u8>, RenderError> {
        let pixels = self.pixels(PNG_PIXELS_PER_UNIT)?;
        render::encode(pixels.width(), pixels.height(), pixels.data())
            .map_err(|error| RenderError { reason: error.to_string() })
    }

    /// Renders the figure, one pixel per SVG unit: `[height, width, 3]` bytes, and height and
    /// width.
    ///
    /// # Errors
    /// Those of [`png`](Self::png).
    pub fn rgb(&self) -> Result<(Vec<u8>, [usize; 2]), RenderError> {
        let pixels = self.pixels(1.0)?;
        // Figures are opaque: the alpha channel carries nothing.
        let rgb = pixels.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Ok((rgb, [pixels.height() as usize, pixels.width() as usize]))
    }

    fn pixels(&self, pixels_per_unit: f32) -> Result<tiny_skia::Pixmap, RenderError> {
        let scale = |[width, height]: [f32; 2]| pixels_per_unit.min(MAX_PNG_SIDE / width.max(height));
        render::render(&self.svg, scale).map_err(|reason| RenderError { reason })
    }
}

/// Returns true for a PNG, false for an SVG.
fn is_png(path: &Path) -> Result<bool, PlotError> {
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => Ok(false),
        Some("png") => Ok(true),
        _ => Err(PlotError::UnknownFormat(path.into())),
    }
}
