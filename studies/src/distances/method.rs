//! Methods that fit a distance to data.

use super::{
    baselines::{Euclidean, NearestNeighbor},
    environment::EnvironmentData,
    exact_pairs::ExactPairs,
};
use crate::StudyError;
use isochrone_core::TemporalDistance;
use isochrone_data::Dataset;
use isochrone_eval::calibration::Calibrated;
use isochrone_eval::refined::{Reading, RefinedConfig, RefinedDistance, SliceDistance};
use isochrone_learn::{
    Algorithm, ComputeDevice, Preset, Training,
    distill::{DistillConfig, DistillHead, distill},
    model::LearnedDistance,
};
use std::ops::Range;

/// The columns of a state that are its position.
const PLACE: Range<usize> = 0..2;

/// A method of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceMethod {
    /// The Euclidean distance, divided by the median length of a step.
    Euclidean,
    /// The fastest recorded trajectory that passes near both states.
    NearestNeighbor,
    /// Recorded time between landmarks.
    Refined,
    /// The refined distance, distilled into a network.
    Distilled(DistillHead),
    /// A learned distance, both raw and calibrated.
    Learned(Algorithm),
}

/// One reading of a fitted distance, such as raw or calibrated.
pub struct FittedReading {
    /// The name of the reading.
    pub name: &'static str,
    /// The distance between full states.
    pub distance: Box<dyn TemporalDistance>,
    /// The refined distance, for goals that are sets of states.
    refined: Option<RefinedDistance>,
}

impl DistanceMethod {
    /// Returns all methods, in the order of reports.
    pub fn all() -> impl Iterator<Item = Self> {
        let learned = Algorithm::ALL.into_iter().filter(|algorithm| *algorithm != Algorithm::Gcbc);
        let distilled = [DistillHead::Pair, DistillHead::Mrn].map(Self::Distilled);
        [Self::Euclidean, Self::NearestNeighbor, Self::Refined]
            .into_iter()
            .chain(distilled)
            .chain(learned.map(Self::Learned))
    }

    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::NearestNeighbor => "nearest-neighbor",
            Self::Refined => "refined",
            Self::Distilled(DistillHead::Pair) => "distilled",
            Self::Distilled(DistillHead::Mrn) => "distilled-mrn",
            Self::Learned(algorithm) => algorithm.name(),
        }
    }

    /// Returns the gradient updates of the method, given those of learned distances.
    pub fn updates(self, learned: u64) -> u64 {
        match self {
            Self::Euclidean | Self::NearestNeighbor | Self::Refined => 0,
            // Fewer for a short benchmark.
            Self::Distilled(_) => DistillConfig::default().updates.min(5 * learned),
            Self::Learned(_) => learned,
        }
    }

    /// Fits the method to data. Networks are trained for `updates`. With `goal_radius`, goals are
    /// positions, and distilled networks learn the steps to any state within this radius.
    pub fn fit(
        self,
        data: &Dataset,
        goal_radius: Option<f32>,
        updates: u64,
        seed: u64,
        device: ComputeDevice,
    ) -> Result<Vec<FittedReading>, StudyError> {
        let of = |name: &'static str, distance: Box<dyn TemporalDistance>| FittedReading {
            name,
            distance,
            refined: None,
        };
        match self {
            Self::Euclidean => Ok(vec![of("raw", Box::new(Euclidean::fit(data)))]),
            Self::NearestNeighbor => Ok(vec![of("raw", Box::new(NearestNeighbor::fit(data)))]),
            Self::Refined => {
                let refined =
                    RefinedDistance::fit(data, &RefinedConfig { seed, ..RefinedConfig::default() })?;
                let read = |name: &'static str, reading: Reading| {
                    let refined = refined.with_reading(reading);
                    FittedReading { name, distance: Box::new(refined.clone()), refined: Some(refined) }
                };
                Ok(vec![read("fastest", Reading::Fastest), read("typical", Reading::Typical)])
            }
            // A quasimetric compares full states.
            Self::Distilled(DistillHead::Mrn) if goal_radius.is_some() => Ok(Vec::new()),
            Self::Distilled(head) => {
                let refined =
                    RefinedDistance::fit(data, &RefinedConfig { seed, ..RefinedConfig::default() })?;
                let column_scales = Some(refined.metric().column_scales());
                let (teacher, goal): (Box<dyn TemporalDistance>, _) = match goal_radius {
                    None => (Box::new(refined), None),
                    Some(radius) => (Box::new(SliceDistance::new(refined, data, PLACE, radius)), Some(PLACE)),
                };
                let config = DistillConfig { head, updates, seed, column_scales, goal, device };
                Ok(vec![of(head.name(), Box::new(distill(&*teacher, data, &config, |_, _| {})?))])
            }
            Self::Learned(algorithm) => {
                let training = Training::new(algorithm).preset(Preset::Small).steps(updates).seed(seed);
                let model = training.device(device).fit(data)?;
                let distance: LearnedDistance = model.distance()?;
                let calibrated = Calibrated::fit(distance.clone(), data, seed);
                Ok(vec![of("raw", Box::new(distance)), of("calibrated", Box::new(calibrated))])
            }
        }
    }
}

impl FittedReading {
    /// Returns the refined distance, which has a path for every reading; `None` for other methods.
    pub fn refined(&self) -> Option<&RefinedDistance> {
        self.refined.as_ref()
    }

    /// Returns the steps of pairs. If goals are positions, the refined distance is that to any
    /// state there; other methods compare full states.
    pub fn steps(&self, pairs: &ExactPairs, environment: &EnvironmentData) -> Vec<f64> {
        let (Some(refined), Some(radius)) = (&self.refined, environment.goal_radius) else {
            return self.distance.paired_steps(&pairs.from, &pairs.to).expect("they are full states");
        };
        let places = SliceDistance::new(refined.clone(), &environment.data, PLACE, radius);
        places.paired_steps(&pairs.from, &pairs.to).expect("they are full states")
    }
}
