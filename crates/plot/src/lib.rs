//! Figures as SVG, as PNG rendered from that SVG, and HTML reports: one drawing, every format.
//!
//! Charts take plain numbers and know nothing of where they come from:
//!
//! - [`LineChart`], [`BarChart`], [`FieldMap`], [`PlaneChart`], [`TrajectoryPlot`], [`Filmstrip`]: what is drawn;
//! - [`curve_chart()`], [`calibration_chart()`], [`MapFrame`], [`StateMap`], [`rollout_chart`]: charts of runs, distances and rollouts;
//! - [`Figure`]: a drawing to save; [`html::Page`] and [`run_report()`]: HTML reports.

mod axis;
mod bars;
mod calibration_chart;
mod contour;
mod curve_chart;
mod curves;
mod distance_map;
mod export;
mod field;
mod filmstrip;
pub mod html;
mod legend;
mod lettering;
mod palette;
mod panel;
mod plane;
mod principal;
mod raster;
mod rollout_paths;
mod run_report;
mod scale;
mod series;
mod shapes;
mod state_map;
mod thinning;
mod trajectories;

pub use bars::{Bar, BarChart};
pub use calibration_chart::calibration_chart;
pub use curve_chart::{CurveGroup, curve_chart};
pub use curves::LineChart;
pub use distance_map::{MapDirection, MapFrame, on_one_scale};
pub use export::{Figure, PlotError};
pub use field::{FieldMap, Glyph};
pub use filmstrip::{Filmstrip, Frame, Limb};
pub use plane::{Colors, PlaneChart, PlaneField, PlanePanel, RolloutPath};
pub use rollout_paths::rollout_chart;
pub use run_report::{RunSummary, run_report};
pub use series::{Panel, Series};
pub use state_map::{MapAxis, StateMap};
pub use trajectories::TrajectoryPlot;
