//! Pictures as SVG, and as PNG rendered from that SVG: one drawing, two formats.

mod axis;
mod bars;
mod contour;
mod curves;
mod export;
mod field;
mod film;
mod legend;
mod lettering;
mod palette;
mod panel;
mod plane;
mod scale;
mod thinning;
mod trajectories;
mod y_scale;

pub use bars::{Bar, BarChart};
pub use curves::{LineChart, Panel, Series};
pub use export::{Picture, PlotError};
pub use field::{FieldMap, Glyph};
pub use film::{Film, Frame, Limb};
pub use plane::{Colours, PlaneChart, PlaneField, PlanePanel, WalkedPath};
pub use trajectories::TrajectoryPlot;
pub use y_scale::YScale;
