//! The cells of a map: their positions, colors and isochrones.

use crate::{
    contour::{Point, Surface, clearest, isoline},
    shapes::rectangle,
};
use std::fmt::Write as _;
use svg::node::element::{Group, Path};

/// The positions of the cells of a map.
pub(super) struct Raster {
    /// The top left corner of the map.
    pub(super) origin: Point,
    /// The width and height of a cell.
    pub(super) cell: (f64, f64),
}

impl Raster {
    /// Converts units of cells to a position in the figure.
    pub(super) fn place(&self, (x, y): Point) -> Point {
        (self.origin.0 + self.cell.0 * x, self.origin.1 + self.cell.1 * y)
    }

    /// Fills cells, row by row. A run of one color is one rectangle, larger than its cells by `overlap`.
    pub(super) fn heat(&self, rows: impl Iterator<Item = Vec<Option<String>>>, overlap: f64) -> Group {
        // Crisp edges avoid seams between neighboring rectangles.
        let mut group = Group::new().set("shape-rendering", "crispEdges");
        for (row, fills) in rows.enumerate() {
            let mut column = 0;
            for run in fills.chunk_by(|a, b| a == b) {
                if let Some(fill) = &run[0] {
                    let (x, y) = self.place((column as f64, row as f64));
                    let width = self.cell.0 * run.len() as f64 + overlap;
                    let patch = rectangle(x, y, width, self.cell.1 + overlap);
                    group = group.add(patch.set("fill", fill.as_str()));
                }
                column += run.len();
            }
        }
        group
    }

    /// Draws the isochrone of a level and finds a position on it for a label, more than `room` from
    /// all positions in
    /// `taken`; `None` if there is none. About `samples` points of the line are tried.
    pub(super) fn isochrone(
        &self,
        surface: &impl Surface,
        level: f64,
        taken: &[Point],
        room: f64,
        samples: usize,
    ) -> (Path, Option<Point>) {
        let segments = isoline(surface, level);
        let mut data = String::new();
        for &(a, b) in &segments {
            let (a, b) = (self.place(a), self.place(b));
            let _ = write!(data, "M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1);
        }
        let middles = segments.iter().map(|(a, b)| self.place(((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0)));
        let label = clearest(middles.step_by(1 + segments.len() / samples), taken, room);
        (Path::new().set("d", data), label)
    }
}
