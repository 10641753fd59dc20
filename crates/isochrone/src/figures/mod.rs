//! Pictures of what was learned, and pages about it.

mod calibration;
mod curves;
mod map;
mod moves;
mod page;

pub use calibration::{Pairs, calibration_chart, observed_pairs};
pub use curves::{Group, curve_chart};
pub use map::{Direction, MapFrame, on_one_scale};
pub use moves::draw_moves;
pub(crate) use page::curve;
pub use page::{display_name, run_page};
