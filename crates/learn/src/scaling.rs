//! Scaling between the units of the data and the inputs of networks.

use crate::error::LearnError;
use isochrone_data::Dataset;
use isochrone_nn::{error::StateError, store::Archive};
use serde::{Deserialize, Serialize};

/// The maximum number of states, evenly spread over every episode, from which statistics are
/// computed: enough for a mean, few enough for files larger than memory.
const MAX_STATES: u64 = 1 << 20;
/// A dimension with a smaller standard deviation is treated as constant.
const MIN_DEVIATION: f64 = 1e-6;

/// How observations are scaled before a network sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalingConfig {
    /// Each dimension is scaled to mean 0 and standard deviation 1.
    #[default]
    Standardize,
    /// Observations are not scaled.
    None,
}

/// `scaled = (raw - shift) * factor`, for each dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Affine {
    /// The offset that is subtracted.
    pub shift: Vec<f32>,
    /// The factor, never zero.
    pub factor: Vec<f32>,
}

impl Affine {
    /// Returns the identity.
    pub fn identity(width: usize) -> Self {
        Self { shift: vec![0.0; width], factor: vec![1.0; width] }
    }

    /// Returns the scaling of rows `[n, width]` that maps `range` root mean squares of each
    /// dimension to 1. A few far outliers do not make the other rows small.
    pub(crate) fn of_root_mean_squares(rows: &[f32], width: usize, range: f64) -> Self {
        let factor = |column: usize| {
            let values = rows.iter().skip(column).step_by(width).map(|x| f64::from(*x));
            let (sum, n) = values.fold((0.0, 0.0), |(sum, n), x| (sum + x * x, n + 1.0));
            let rms = (sum / f64::max(n, 1.0)).sqrt();
            if rms > MIN_DEVIATION { (1.0 / (range * rms)) as f32 } else { 1.0 }
        };
        Self { shift: vec![0.0; width], factor: (0..width).map(factor).collect() }
    }

    /// Returns scaled rows.
    pub fn scaled(&self, rows: &[f32]) -> Vec<f32> {
        let mut scaled = rows.to_vec();
        self.map(&mut scaled, |x, shift, factor| (x - shift) * factor);
        scaled
    }

    /// Converts scaled rows back to their original units, in place.
    pub fn unscale(&self, rows: &mut [f32]) {
        self.map(rows, |x, shift, factor| x / factor + shift);
    }

    /// Applies `change` to every number with the shift and the factor of its dimension.
    fn map(&self, rows: &mut [f32], change: impl Fn(f32, f32, f32) -> f32) {
        for row in rows.chunks_exact_mut(self.shift.len().max(1)) {
            for ((x, shift), factor) in row.iter_mut().zip(&self.shift).zip(&self.factor) {
                *x = change(*x, *shift, *factor);
            }
        }
    }
}

/// The scaling of the observations and actions of a dataset. It is saved with the weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The scaling of observations and goals.
    pub observation: Affine,
    /// The scaling of actions to `[-1, 1]`.
    pub action: Affine,
}

impl Scaling {
    /// Returns the identity.
    pub fn identity(observation_width: usize, action_width: usize) -> Self {
        Self { observation: Affine::identity(observation_width), action: Affine::identity(action_width) }
    }

    /// Computes the scaling from the mean and standard deviation of observations and the range of
    /// actions.
    ///
    /// Actions keep their units if all of them lie in `[-1, 1]` and the dataset specifies no
    /// bounds. Of more than a million states, an evenly spaced subset is used.
    ///
    /// # Errors
    /// If a value is not finite; the error names the episode and the row.
    pub fn of(data: &Dataset, config: ScalingConfig) -> Result<Self, LearnError> {
        let spec = data.spec();
        let mut observations = Columns::new(spec.observation.width);
        let mut actions = Columns::new(spec.action.width);
        let every = data.index().n_states().div_ceil(MAX_STATES).max(1) as usize;
        for number in 0..data.n_episodes() {
            let episode = data.episode(number);
            observations.add(episode.observations, every, number, &spec.observation.name)?;
            actions.add(episode.actions, every, number, &spec.action.name)?;
        }
        let observation = match config {
            ScalingConfig::Standardize => weighted(observations.standardized(), &spec.observation.weights),
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

/// Multiplies dimensions by their weights, if they have any.
fn weighted(mut affine: Affine, weights: &[f32]) -> Affine {
    // A factor is never zero, since it is divided by.
    for (factor, weight) in affine.factor.iter_mut().zip(weights).filter(|(_, weight)| **weight > 0.0) {
        *factor *= weight;
    }
    affine
}

/// Statistics over rows, for each dimension.
struct Columns {
    rows: f64,
    mean: Vec<f64>,
    /// The sum of squared deviations from the mean.
    squares: Vec<f64>,
    min: Vec<f32>,
    max: Vec<f32>,
}

impl Columns {
    fn new(width: usize) -> Self {
        Self {
            rows: 0.0,
            mean: vec![0.0; width],
            squares: vec![0.0; width],
            min: vec![f32::INFINITY; width],
            max: vec![f32::NEG_INFINITY; width],
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
                self.squares[dimension] += before * (f64::from(value) - self.mean[dimension]);
                self.min[dimension] = self.min[dimension].min(value);
                self.max[dimension] = self.max[dimension].max(value);
            }
        }
        Ok(())
    }

    fn standardized(&self) -> Affine {
        let factor = |squares: &f64| match (squares / self.rows.max(1.0)).sqrt() {
            small if small < MIN_DEVIATION => 1.0,
            deviation => (1.0 / deviation) as f32,
        };
        let shift = self.mean.iter().map(|mean| *mean as f32).collect();
        Affine { shift, factor: self.squares.iter().map(factor).collect() }
    }

    fn to_unit_range(&self, bounds: impl Fn(usize) -> Option<(f32, f32)>) -> Affine {
        let mut affine = Affine::identity(self.mean.len());
        for dimension in 0..self.mean.len() {
            let seen = (self.min[dimension], self.max[dimension]);
            let is_unit = seen.0 >= -1.0 && seen.1 <= 1.0;
            let range = bounds(dimension).or((!is_unit).then_some(seen));
            if let Some((low, high)) = range.filter(|(low, high)| high - low > MIN_DEVIATION as f32) {
                affine.shift[dimension] = 0.5 * (low + high);
                affine.factor[dimension] = 2.0 / (high - low);
            }
        }
        affine
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_data::{Episode, Spec};

    #[test]
    fn weights_multiply_standardized_dimensions() {
        let mut spec = Spec::new(3, 0);
        let episode = Episode { observations: vec![-2.0, -2.0, 0.0, 2.0, 2.0, 0.0], ..Episode::default() };
        let factors = |spec: &Spec| {
            let data = Dataset::from_episodes(spec, [&episode]).unwrap();
            Scaling::of(&data, ScalingConfig::Standardize).unwrap().observation.factor
        };
        let plain = factors(&spec);
        spec.observation.weights = vec![1.0, 0.25, 0.0];
        assert_eq!(factors(&spec), [plain[0], 0.25 * plain[1], plain[2]], "no factor is 0");
    }
}
