//! Methods that fit a distance to data.

use super::{exact_pairs::ExactPairs, places::PlaceDistance, world::WorldData};
use crate::StudyError;
use isochrone_core::{Discount, ShapeError, TemporalDistance, statistics::median};
use isochrone_data::Dataset;
use isochrone_eval::calibration::Calibrated;
use isochrone_eval::refined::{Reading, RefinedConfig, RefinedDistance};
use isochrone_learn::{
    Algorithm, Training,
    distill::{DistillConfig, DistillHead, distill},
    model::LearnedDistance,
};

/// A method of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceMethod {
    /// Straight lines over the median length of a step.
    Euclidean,
    /// Recorded time between landmarks.
    Refined,
    /// Recorded time, distilled into a network.
    Distilled(DistillHead),
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
        let distilled = [DistillHead::Pair, DistillHead::Mrn].map(Self::Distilled);
        [Self::Euclidean, Self::Refined].into_iter().chain(distilled).chain(learned.map(Self::Learned))
    }

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::Refined => "refined",
            Self::Distilled(DistillHead::Pair) => "distilled",
            Self::Distilled(DistillHead::Mrn) => "distilled-mrn",
            Self::Learned(algorithm) => algorithm.name(),
        }
    }

    /// Updates of its networks, if learned distances get so many.
    pub fn updates(self, learned: u64) -> u64 {
        match self {
            Self::Euclidean | Self::Refined => 0,
            // Short benchmarks stay short.
            Self::Distilled(_) => DistillConfig::default().updates.min(5 * learned),
            Self::Learned(_) => learned,
        }
    }

    /// Fits it to the data of a world. Networks are trained for so many updates.
    pub fn fit(self, world: &WorldData, updates: u64, seed: u64) -> Result<Vec<FittedReading>, StudyError> {
        let data = &world.data;
        let of = |name: &'static str, distance: Box<dyn TemporalDistance>| FittedReading {
            name,
            distance,
            refined: None,
        };
        match self {
            Self::Euclidean => Ok(vec![of("raw", Box::new(Euclidean::fit(data)))]),
            Self::Refined => {
                let refined =
                    RefinedDistance::fit(data, &RefinedConfig { seed, ..RefinedConfig::default() })?;
                let read = |name: &'static str, reading: Reading| {
                    let refined = refined.with_reading(reading);
                    FittedReading { name, distance: Box::new(refined.clone()), refined: Some(refined) }
                };
                Ok(vec![read("fastest", Reading::Fastest), read("typical", Reading::Typical)])
            }
            // A quasimetric compares whole states.
            Self::Distilled(DistillHead::Mrn) if world.goal_radius.is_some() => Ok(Vec::new()),
            Self::Distilled(head) => {
                let refined =
                    RefinedDistance::fit(data, &RefinedConfig { seed, ..RefinedConfig::default() })?;
                let column_scales = Some(refined.metric().column_scales());
                let (teacher, goal): (Box<dyn TemporalDistance>, _) = match world.goal_radius {
                    None => (Box::new(refined), None),
                    Some(radius) => (Box::new(PlaceDistance::new(refined, data, radius)), Some(0..2)),
                };
                let config = DistillConfig { head, updates, seed, column_scales, goal };
                Ok(vec![of(head.name(), Box::new(distill(&*teacher, data, &config, |_, _| {})?))])
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
        let places = PlaceDistance::new(refined.clone(), &world.data, radius);
        places.paired_steps(&pairs.from, &pairs.to).expect("they are whole states")
    }
}

/// Straight lines, in steps of median length.
struct Euclidean {
    width: usize,
    step: f64,
}

impl Euclidean {
    fn fit(data: &Dataset) -> Self {
        let width = data.spec().observation.width;
        let mut lengths = Vec::new();
        for episode in 0..data.n_episodes() {
            let rows = data.episode(episode).observations;
            lengths.extend(
                rows.chunks_exact(width).zip(rows.chunks_exact(width).skip(1)).map(|(a, b)| apart(a, b)),
            );
        }
        lengths.retain(|length| *length > 0.0);
        Self { width, step: median(lengths) }
    }
}

fn apart(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
}

impl TemporalDistance for Euclidean {
    fn width(&self) -> usize {
        self.width
    }

    fn discount(&self) -> Discount {
        Discount::new(0.99).expect("a discount")
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() / self.step;
        let pairs = from.chunks_exact(self.width).zip(to.chunks_exact(self.width));
        pairs.map(|(from, to)| (apart(from, to) * unit) as f32).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        let row = |from: &[f32]| {
            let from: Vec<f32> = from.repeat(to.len() / self.width);
            self.paired_nats(&from, to)
        };
        from.chunks_exact(self.width).flat_map(row).collect()
    }
}
