//! The configuration of a planner: the search method, the distance, and the transitions.

use super::{error::PlanError, method::PlanMethod, planner::Planner, vertices::Vertices};
use crate::{calibration::Calibrated, round_trip::RoundTrip};
use isochrone_core::TemporalDistance;
use isochrone_data::Dataset;

/// The length of the parts of trajectories whose efficiency is compared, in steps, if there are no
/// edges.
const EFFICIENCY_STEPS: f64 = 16.0;
/// The maximum length of these parts, in steps.
const MAX_EFFICIENCY_STEPS: f64 = 64.0;

/// The settings for building a planner from a distance and a dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannerConfig {
    /// The search method.
    pub method: PlanMethod,
    /// Whether to use the larger of the two directed distances, so that edges are reversible.
    pub round_trip: bool,
    /// Whether to calibrate distances to observed step counts.
    pub calibrated: bool,
    /// The maximum number of transitions of the dataset that are searched.
    pub transitions: usize,
    /// How the transitions are chosen.
    pub vertices: Vertices,
    /// The random seed.
    pub seed: u64,
}

impl PlannerConfig {
    /// Chooses transitions, calibrates the distance if requested, and builds the planner.
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
        let window_steps = match self.method {
            PlanMethod::Greedy { .. } => EFFICIENCY_STEPS,
            PlanMethod::SoftGraph { edge_scale_steps: steps }
            | PlanMethod::Graph { max_edge_steps: steps } => steps,
        };
        let window_steps = window_steps.min(MAX_EFFICIENCY_STEPS) as usize;
        let transitions = self.vertices.choose(&distance, data, self.transitions, window_steps, self.seed);
        Planner::new(self.method, distance, transitions)
    }
}
