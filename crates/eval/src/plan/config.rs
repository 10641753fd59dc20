//! A planner from a dataset: how it searches, which distance it reads, and over which transitions.

use super::{error::PlanError, method::PlanMethod, planner::Planner, transitions::Transitions};
use crate::{calibration::Calibrated, round_trip::RoundTrip};
use isochrone_core::TemporalDistance;
use isochrone_data::Dataset;

/// How a planner is built from a distance and a dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannerConfig {
    /// The search.
    pub method: PlanMethod,
    /// Uses the larger of the two directed distances, so that edges are reversible.
    pub round_trip: bool,
    /// Calibrates distances to observed step counts.
    pub calibrated: bool,
    /// Number of transitions sampled from the dataset.
    pub transitions: usize,
    /// Seed of everything that is sampled.
    pub seed: u64,
}

impl PlannerConfig {
    /// Samples transitions, calibrates if asked to, and builds the planner.
    ///
    /// # Errors
    /// If the dataset has no transition.
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
