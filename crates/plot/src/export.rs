//! From a drawing to a file.

use crate::{lettering, palette, shapes::text};
use resvg::{tiny_skia, usvg};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use svg::{Document, node::element::Rectangle};
use thiserror::Error;

/// The typeface of all labels, so that PNGs look the same on machines without fonts.
const FONT: &[u8] = include_bytes!("../assets/DejaVuSans-subset.ttf");
/// The family it declares, with what a browser should fall back to.
const FONT_FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";
/// PNGs have two pixels per SVG unit, for sharp text on dense displays.
const PNG_PIXELS_PER_UNIT: f32 = 2.0;
/// Neither side of a PNG may be longer.
const MAX_PNG_SIDE: f32 = 8192.0;
/// Room around a drawing.
pub(super) const MARGIN: f64 = 16.0;

/// Why a picture could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The file name does not say which format is meant.
    #[error("{}: the picture's format is not clear from its name; hint: end the name in .svg or .png", .0.display())]
    UnknownFormat(PathBuf),
    /// The SVG could not be rendered.
    #[error("{}: could not render the picture: {reason}; hint: write an .svg instead", path.display())]
    Render {
        /// The file to be written.
        path: PathBuf,
        /// What the renderer said.
        reason: String,
    },
    /// The file could not be written.
    #[error("{}: {source}; hint: check that the folder exists and can be written", path.display())]
    Write {
        /// The file to be written.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A finished drawing.
#[derive(Debug, Clone)]
pub struct Figure {
    svg: String,
}

/// An empty document of a size, in the typeface of all labels.
pub(super) fn sheet(width: f64, height: f64) -> Document {
    Document::new()
        .set("viewBox", (0, 0, width as u32, height as u32))
        .set("width", width)
        .set("height", height)
        .set("font-family", FONT_FAMILY)
}

/// What a drawing lies on.
pub(super) fn paper() -> Rectangle {
    Rectangle::new().set("width", "100%").set("height", "100%").set("fill", palette::PAPER)
}

/// A sheet of paper with a title and a note, shortened to its width.
pub(super) fn titled(width: f64, height: f64, title: &str, note: &str) -> Document {
    let heading = |content: &str, y: f64, size: f64| {
        text(&lettering::shortened(content, width - 2.0 * MARGIN, size), (MARGIN, y), size, "start")
    };
    sheet(width, height).add(paper()).add(heading(title, 26.0, 15.0)).add(heading(note, 44.0, 11.0))
}

impl Figure {
    pub(super) fn new(document: &Document) -> Self {
        Self { svg: format!("{document}\n") }
    }

    /// The drawing as an SVG document.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Checks that a file name says which format is meant and lies in a folder that exists, before any work is
    /// done for it.
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

    /// Writes the drawing in the format that the file name asks for.
    pub fn save(&self, path: &Path) -> Result<(), PlotError> {
        let bytes = match is_png(path)? {
            true => self.png().map_err(|reason| PlotError::Render { path: path.into(), reason })?,
            false => self.svg.clone().into_bytes(),
        };
        isochrone_data::atomic::write(path, &bytes)
            .map_err(|source| PlotError::Write { path: path.into(), source })
    }

    /// The drawing as a PNG file.
    pub(crate) fn png(&self) -> Result<Vec<u8>, String> {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        let options = usvg::Options { fontdb: Arc::new(fonts), ..Default::default() };
        let tree = usvg::Tree::from_str(&self.svg, &options).map_err(|error| error.to_string())?;
        let size = tree.size();
        let scale = PNG_PIXELS_PER_UNIT.min(MAX_PNG_SIDE / size.width().max(size.height()));
        let side = |length: f32| (length * scale).ceil() as u32;
        let mut pixels = tiny_skia::Pixmap::new(side(size.width()), side(size.height()))
            .ok_or_else(|| "the picture is empty".to_owned())?;
        resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| error.to_string())
    }
}

/// Whether a file name asks for a PNG, or for an SVG.
fn is_png(path: &Path) -> Result<bool, PlotError> {
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => Ok(false),
        Some("png") => Ok(true),
        _ => Err(PlotError::UnknownFormat(path.into())),
    }
}
