//! Methods that fit a distance to data.

use super::{
    baselines::{Euclidean, NearestNeighbor},
    exact_pairs::ExactPairs,
    world::WorldData,
};
use crate::StudyError;
use isochrone_core::TemporalDistance;
use isochrone_data::Dataset;
use isochrone_eval::calibration::Calibrated;
use isochrone_eval::refined::{Reading, RefinedConfig, RefinedDistance};
use isochrone_learn::{Algorithm, Training, model::LearnedDistance};
use rayon::prelude::*;

/// A method of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceMethod {
    /// Straight lines over the median length of a step.
    Euclidean,
    /// The fastest recording that passes near both states.
    NearestNeighbor,
    /// Recorded time between landmarks.
    Refined,
    /// A learned distance, as its algorithm gives it and calibrated.
    Learned(Algorithm),
}

/// A fitted distance, read in one way.
pub struct FittedReading {
    /// Name of the reading.
    pub name: &'static str,
    /// The distance between whole states.
    pub distance: Box<dyn TemporalDistance>,
    /// Set where goals can be sets of states.
    refined: Option<RefinedDistance>,
}

impl DistanceMethod {
    /// All methods, in the order of reports.
    pub fn all() -> impl Iterator<Item = Self> {
        let learned = Algorithm::ALL.into_iter().filter(|algorithm| *algorithm != Algorithm::Gcbc);
        [Self::Euclidean, Self::NearestNeighbor, Self::Refined].into_iter().chain(learned.map(Self::Learned))
    }

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::NearestNeighbor => "nearest-neighbor",
            Self::Refined => "refined",
            Self::Learned(algorithm) => algorithm.name(),
        }
    }

    /// Fits it to data. Networks are trained for so many updates.
    pub fn fit(self, data: &Dataset, updates: u64, seed: u64) -> Result<Vec<FittedReading>, StudyError> {
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
            Self::Learned(algorithm) => {
                let model = Training::new(algorithm).steps(updates).seed(seed).fit(data)?;
                let distance: LearnedDistance = model.distance()?;
                let calibrated = Calibrated::fit(distance.clone(), data, seed);
                Ok(vec![of("raw", Box::new(distance)), of("calibrated", Box::new(calibrated))])
            }
        }
    }
}

impl FittedReading {
    /// Steps of pairs. Where goals are places, a refined distance is asked for any state there; others compare whole states.
    pub fn steps(&self, pairs: &ExactPairs, world: &WorldData) -> Vec<f64> {
        let (Some(refined), Some(radius)) = (&self.refined, world.goal_radius) else {
            return self.distance.paired_steps(&pairs.from, &pairs.to).expect("they are whole states");
        };
        let width = self.distance.width();
        let rows: Vec<&[f32]> = (0..world.data.n_episodes())
            .flat_map(|episode| world.data.episode(episode).observations.chunks_exact(width))
            .collect();
        let read = |(from, to): (&[f32], &[f32])| {
            let near = rows.iter().filter(|row| (row[0] - to[0]).hypot(row[1] - to[1]) <= radius);
            let states: Vec<f32> = near.copied().flatten().copied().collect();
            let goals = refined.goal_set(&states).expect("they are whole states");
            refined.steps_to_set(from, &goals).expect("it is a whole state")[0]
        };
        pairs.from.par_chunks_exact(width).zip(pairs.to.par_chunks_exact(width)).map(read).collect()
    }
}
