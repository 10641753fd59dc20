//! Figures as SVG, as PNG rendered from that SVG, and HTML reports.
//!
//! Charts take plain numbers and do not depend on their source:
//!
//! - [`LineChart`], [`BarChart`], [`FieldMap`], [`PlaneChart`], [`TrajectoryPlot`], [`Filmstrip`]:
//!   the kinds of charts;
//! - [`curve_chart()`], [`calibration_chart()`], [`MapFrame`], [`StateMap`], [`rollout_chart`]:
//!   charts of runs, distances and rollouts;
//! - [`Figure`]: a drawn chart, to be saved; [`html::Page`] and [`run_report()`]: HTML reports;
//! - [`ExplorePage`]: an interactive page that evaluates distances in the browser.

mod axis;
mod bars;
mod calibration_chart;
mod contour;
mod curve_chart;
mod curves;
mod distance_map;
mod explore;
mod export;
mod field;
mod filmstrip;
pub mod html;
mod legend;
mod lettering;
mod map_goal;
mod palette;
mod panel;
mod plane;
mod principal;
mod raster;
mod render;
mod rollout_paths;
mod run_report;
mod scale;
mod series;
mod shapes;
mod state_map;
mod thinning;
mod trajectories;

pub use bars::{Bar, BarChart, BarColor};
pub use calibration_chart::{CalibrationSeries, calibration_chart};
pub use curve_chart::{CurveGroup, MIN_SEEDS, curve_chart};
pub use curves::LineChart;
pub use distance_map::{MapDirection, MapFrame, on_one_scale};
pub use explore::{Bridge, ExploreError, ExploreLayers, ExplorePage, Finding, FrameOfEpisode, StartState};
pub use export::{Figure, PlotError, RenderError};
pub use field::{FieldMap, Glyph};
pub use filmstrip::{Filmstrip, Frame, Limb};
pub use map_goal::CentralState;
pub use plane::{Colors, PlaneChart, PlaneField, PlanePanel, RolloutPath};
pub use rollout_paths::rollout_chart;
pub use run_report::{BestEvaluation, RunSummary, run_report};
pub use series::{Panel, Series};
pub use state_map::{MapAxis, StateMap};
pub use trajectories::TrajectoryPlot;
