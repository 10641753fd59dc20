//! Whole studies, from data to report, in one call that can be interrupted and goes on where it was.

pub mod mazes;
pub mod nav2d;
mod training;

pub use training::Failure;

/// Nats of a distance as steps.
fn in_steps(distance: &dyn isochrone_core::TemporalDistance, nats: Vec<f32>) -> Vec<f64> {
    let discount = distance.discount();
    // Rounding may leave a zero with a sign.
    nats.into_iter().map(|nats| discount.steps_from_nats(f64::from(nats)) + 0.0).collect()
}
