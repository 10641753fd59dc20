//! Pictures of what was learned, and pages about it.

mod calibration;
mod curves;
mod map;
mod moves;
mod page;
mod paths;
mod ways;

pub use calibration::{CALIBRATED_BY, Pairs, calibrated, calibration_chart, observed_pairs};
pub use curves::{Group, curve_chart};
pub use map::{Direction, MapFrame, on_one_scale};
pub use moves::draw_moves;
pub use page::{Subject, display_name, run_page};
pub use paths::{ant_film, path_chart};
pub use ways::Ways;

use isochrone_core::TemporalDistance;

/// Nats of a distance as steps.
pub fn in_steps(distance: &dyn TemporalDistance, nats: Vec<f32>) -> Vec<f64> {
    let discount = distance.discount();
    // Rounding may leave a zero with a sign.
    nats.into_iter().map(|nats| discount.steps_from_nats(f64::from(nats)) + 0.0).collect()
}
