//! The units of the data, and those that networks like.

use crate::error::LearnError;
use isochrone_data::Dataset;
use isochrone_nn::{error::StateError, store::Archive};
use serde::{Deserialize, Serialize};

/// States that are looked at, evenly spread over every episode: enough for a mean, few enough for files beyond memory.
const MOST_STATES: u64 = 1 << 20;
/// A dimension that varies less is constant.
const LEAST_DEVIATION: f64 = 1e-6;

/// How observations are scaled before a network sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalingConfig {
    /// Each dimension to mean 0 and deviation 1.
    #[default]
    Standardize,
    /// Not at all.
    None,
}

/// `scaled = (raw - shift) * factor`, for each dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Affine {
    /// Subtracted.
    pub shift: Vec<f32>,
    /// Multiplied, never zero.
    pub factor: Vec<f32>,
}

impl Affine {
    /// Leaves everything as it is.
    pub fn identity(width: usize) -> Self {
        Self { shift: vec![0.0; width], factor: vec![1.0; width] }
    }

    /// Scaled rows.
    pub fn scaled(&self, rows: &[f32]) -> Vec<f32> {
        let mut scaled = rows.to_vec();
        self.map(&mut scaled, |x, shift, factor| (x - shift) * factor);
        scaled
    }

    /// Rows in their own units again, in place.
    pub fn unscale(&self, rows: &mut [f32]) {
        self.map(rows, |x, shift, factor| x / factor + shift);
    }

    /// Changes every number, given the shift and the factor of its dimension.
    fn map(&self, rows: &mut [f32], change: impl Fn(f32, f32, f32) -> f32) {
        for row in rows.chunks_exact_mut(self.shift.len().max(1)) {
            for ((x, shift), factor) in row.iter_mut().zip(&self.shift).zip(&self.factor) {
                *x = change(*x, *shift, *factor);
            }
        }
    }
}

/// How the observations and actions of a data set are scaled. Part of what is saved with the weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Of observations and goals.
    pub observation: Affine,
    /// Of actions, to `[-1, 1]`.
    pub action: Affine,
}

impl Scaling {
    /// Leaves everything as it is.
    pub fn identity(observation_width: usize, action_width: usize) -> Self {
        Self { observation: Affine::identity(observation_width), action: Affine::identity(action_width) }
    }

    /// From the data: mean and deviation of observations, range of actions.
    ///
    /// Actions keep their units if all that were seen lie in `[-1, 1]` and no bounds say otherwise. Of more than a million states, every so many are looked at. The error
    /// of a number that is not finite names the episode and the row.
    pub fn of(data: &Dataset, config: ScalingConfig) -> Result<Self, LearnError> {
        let spec = data.spec();
        let mut observations = Columns::new(spec.observation.width);
        let mut actions = Columns::new(spec.action.width);
        let every = data.index().n_states().div_ceil(MOST_STATES).max(1) as usize;
        for number in 0..data.n_episodes() {
            let episode = data.episode(number);
            observations.add(episode.observations, every, number, &spec.observation.name)?;
            actions.add(episode.actions, every, number, &spec.action.name)?;
        }
        let observation = match config {
            ScalingConfig::Standardize => observations.standardized(),
            ScalingConfig::None => Affine::identity(spec.observation.width),
        };
        let action = actions.to_unit_range(|dimension| {
            let bounds = spec.action.bounds.get(dimension)?;
            Some((bounds.low?, bounds.high?)).filter(|(low, high)| low < high)
        });
        Ok(Self { observation, action })
    }

    pub(crate) fn insert_into(&self, archive: &mut Archive) {
        for (name, affine) in [("observation", &self.observation), ("action", &self.action)] {
            let width = affine.shift.len();
            archive.insert(format!("scaling.{name}.shift"), &[width], affine.shift.clone());
            archive.insert(format!("scaling.{name}.factor"), &[width], affine.factor.clone());
        }
    }

    pub(crate) fn take_from(archive: &mut Archive, widths: [usize; 2]) -> Result<Self, StateError> {
        let mut affine = |name: &str, width: usize| {
            let shift = archive.take(&format!("scaling.{name}.shift"), &[width])?;
            let factor = archive.take(&format!("scaling.{name}.factor"), &[width])?;
            Ok::<_, StateError>(Affine { shift, factor })
        };
        Ok(Self { observation: affine("observation", widths[0])?, action: affine("action", widths[1])? })
    }
}

/// Sums over rows, dimension by dimension.
struct Columns {
    rows: f64,
    mean: Vec<f64>,
    /// Sum of squared distances from the mean.
    spread: Vec<f64>,
    least: Vec<f32>,
    greatest: Vec<f32>,
}

impl Columns {
    fn new(width: usize) -> Self {
        Self {
            rows: 0.0,
            mean: vec![0.0; width],
            spread: vec![0.0; width],
            least: vec![f32::INFINITY; width],
            greatest: vec![f32::NEG_INFINITY; width],
        }
    }

    fn add(&mut self, rows: &[f32], every: usize, episode: usize, column: &str) -> Result<(), LearnError> {
        let width = self.mean.len();
        if width == 0 {
            return Ok(());
        }
        for (row, values) in rows.chunks_exact(width).enumerate().step_by(every) {
            self.rows += 1.0;
            for (dimension, &value) in values.iter().enumerate() {
                if !value.is_finite() {
                    return Err(LearnError::NotFinite { column: column.to_owned(), episode, row, value });
                }
                let before = f64::from(value) - self.mean[dimension];
                self.mean[dimension] += before / self.rows;
                self.spread[dimension] += before * (f64::from(value) - self.mean[dimension]);
                self.least[dimension] = self.least[dimension].min(value);
                self.greatest[dimension] = self.greatest[dimension].max(value);
            }
        }
        Ok(())
    }

    fn standardized(&self) -> Affine {
        let factor = |spread: &f64| match (spread / self.rows.max(1.0)).sqrt() {
            small if small < LEAST_DEVIATION => 1.0,
            deviation => (1.0 / deviation) as f32,
        };
        let shift = self.mean.iter().map(|mean| *mean as f32).collect();
        Affine { shift, factor: self.spread.iter().map(factor).collect() }
    }

    fn to_unit_range(&self, bounds: impl Fn(usize) -> Option<(f32, f32)>) -> Affine {
        let mut affine = Affine::identity(self.mean.len());
        for dimension in 0..self.mean.len() {
            let seen = (self.least[dimension], self.greatest[dimension]);
            let is_unit = seen.0 >= -1.0 && seen.1 <= 1.0;
            let range = bounds(dimension).or((!is_unit).then_some(seen));
            if let Some((low, high)) = range.filter(|(low, high)| high - low > LEAST_DEVIATION as f32) {
                affine.shift[dimension] = 0.5 * (low + high);
                affine.factor[dimension] = 2.0 / (high - low);
            }
        }
        affine
    }
}
