//! Pictures as SVG, and as PNG rendered from that SVG: one drawing, two formats.

mod bars;
mod contour;
mod export;
mod field;
mod palette;
mod scale;
mod trajectories;

pub use bars::{Bar, BarChart};
pub use export::{Picture, PlotError};
pub use field::{FieldMap, Glyph};
pub use trajectories::TrajectoryPlot;
