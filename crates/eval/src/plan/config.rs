//! The configuration of a planner: the search method, the distance, and the transitions.

use super::{error::PlanError, method::PlanMethod, planner::Planner, transitions::Transitions};
use crate::{calibration::Calibrated, round_trip::RoundTrip};
use isochrone_core::TemporalDistance;
use isochrone_data::Dataset;

/// The settings for building a planner from a distance and a dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannerConfig {
    /// The search method.
    pub method: PlanMethod,
    /// Whether to use the larger of the two directed distances, so that edges are reversible.
    pub round_trip: bool,
    /// Whether to calibrate distances to observed step counts.
    pub calibrated: bool,
    /// The number of transitions sampled from the dataset.
    pub transitions: usize,
    /// The random seed.
    pub seed: u64,
}

impl PlannerConfig {
    /// Samples transitions, calibrates the distance if requested, and builds the planner.
    ///
    /// # Errors
    /// If the dataset has no transitions, or a setting of `method` is not a positive number.
    pub fn build<'d>(
        &self,
        distance: impl TemporalDistance + 'd,
        data: &Dataset,
    ) -> Result<Planner<Box<dyn TemporalDistance + 'd>>, PlanError> {
        let mut distance: Box<dyn TemporalDistance + 'd> = Box::new(distance);
        if self.round_trip {
            distance = Box::new(RoundTrip(distance));
        }
        if self.calibrated {
            distance = Box::new(Calibrated::fit(distance, data, self.seed));
        }
        Planner::new(self.method, distance, Transitions::sample(data, self.transitions, self.seed))
    }
}
