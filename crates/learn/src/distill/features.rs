//! Input features of a distilled network.

use super::DistillConfig;
use crate::{
    error::{ConfigError, ConfigErrorKind, LearnError},
    scaling::{Affine, Scaling, ScalingConfig},
};
use isochrone_core::rng;
use isochrone_data::Dataset;
use isochrone_nn::{error::StateError, store::Archive};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Frequency scales in radians per standard deviation, from the global structure to a tenth of it.
const SCALES: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
/// The number of frequencies of each scale.
const PER_SCALE: usize = 16;
const FREQUENCIES: usize = SCALES.len() * PER_SCALE;
/// The random stream of the frequencies.
const STREAM: u64 = 1;

/// The columns of a state that are used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    /// The width of a state.
    pub width: usize,
    /// The columns that are used, in ascending order.
    pub used: Vec<usize>,
    /// The columns of a goal.
    pub goal: Range<usize>,
}

/// Multi-scale random Fourier features of the scaled columns: `[x, sin(x B), cos(x B)]`.
///
/// `x` has mean 0 and total variance 2, like two columns of standard deviation 1. `B` is normal
/// with standard deviations [`SCALES`]. A network of `x` alone blurs walls.
///
/// Tancik et al., "Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional
/// Domains" (2020).
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureMap {
    pub columns: Columns,
    /// The scaling of the columns that are used.
    scaling: Affine,
    /// `[columns, FREQUENCIES]`
    frequencies: Vec<f32>,
}

/// Features of states, as starts and as goals.
pub struct FeatureRows {
    width: usize,
    columns: usize,
    starts: Vec<f32>,
    /// The features of the goal columns, if goals are a slice of a state.
    slices: Option<Vec<f32>>,
}

impl FeatureRows {
    /// The number of features of a state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The features of a state as a start.
    pub fn start(&self, row: usize) -> &[f32] {
        &self.starts[row * self.width..][..self.width]
    }

    /// The features of a state as a goal.
    pub fn goal(&self, row: usize) -> &[f32] {
        &self.slices.as_ref().unwrap_or(&self.starts)[row * self.width..][..self.width]
    }

    /// The scaled goal columns of a state, which are equal for states that are the same goal.
    pub fn goal_columns(&self, row: usize) -> &[f32] {
        &self.goal(row)[..self.columns]
    }
}

impl FeatureMap {
    /// Fits the features to the scale of the data.
    pub fn fit(data: &Dataset, config: &DistillConfig) -> Result<Self, LearnError> {
        let width = data.spec().observation.width;
        let standard = Scaling::of(data, ScalingConfig::Standardize)?.observation;
        let scales = config.column_scales.as_ref().unwrap_or(&standard.factor);
        if scales.len() != width || scales.iter().any(|scale| !(scale.is_finite() && *scale >= 0.0)) {
            let value = format!("{} values", scales.len());
            let hint = "specify a finite, non-negative number for each column";
            let problem = format!("does not fit observations of {width} columns");
            return Err(ConfigError::new("column_scales", value, &problem, hint).into());
        }
        let goal = config.goal.clone().unwrap_or(0..width);
        let used: Vec<usize> = (0..width).filter(|column| scales[*column] > 0.0).collect();
        if goal.end > width || !used.iter().any(|column| goal.contains(column)) {
            let hint = "specify observation columns with a positive scale";
            let error = ConfigError::new("goal", format!("{goal:?}"), "contains no used column", hint);
            return Err(error.of_kind(ConfigErrorKind::Unsupported).into());
        }
        let variance = used.iter().map(|&column| f64::from(scales[column] / standard.factor[column]).powi(2));
        let unit = (2.0 / variance.sum::<f64>()).sqrt() as f32;
        let scaling = Affine {
            shift: used.iter().map(|&column| standard.shift[column]).collect(),
            factor: used.iter().map(|&column| scales[column] * unit).collect(),
        };
        let mut random = rng::stream(config.seed, STREAM);
        let draw =
            |number: usize| (SCALES[number % FREQUENCIES / PER_SCALE] * rng::normal(&mut random)) as f32;
        let frequencies = (0..used.len() * FREQUENCIES).map(draw).collect();
        Ok(Self { columns: Columns { width, used, goal }, scaling, frequencies })
    }

    /// Whether goals are a slice of a state.
    pub fn is_slice(&self) -> bool {
        self.columns.used.iter().any(|column| !self.columns.goal.contains(column))
    }

    /// The number of features of a state.
    pub fn width(&self) -> usize {
        self.columns.used.len() + 2 * FREQUENCIES
    }

    /// Computes the features of states, `[n, observation width]`.
    pub fn rows(&self, observations: &[f32]) -> FeatureRows {
        let slices = self.is_slice().then(|| self.features(observations, &self.columns.goal));
        FeatureRows {
            width: self.width(),
            columns: self.columns.used.len(),
            starts: self.features(observations, &(0..self.columns.width)),
            slices,
        }
    }

    /// Computes the features of a range of columns; the others are replaced by their mean.
    fn features(&self, observations: &[f32], range: &Range<usize>) -> Vec<f32> {
        let Affine { shift, factor } = &self.scaling;
        let features = |row: &[f32]| {
            let mut features = Vec::with_capacity(self.width());
            let mut angles = [0f32; FREQUENCIES];
            for (i, &column) in self.columns.used.iter().enumerate() {
                let x = if range.contains(&column) { (row[column] - shift[i]) * factor[i] } else { 0.0 };
                features.push(x);
                let frequencies = &self.frequencies[i * FREQUENCIES..][..FREQUENCIES];
                angles.iter_mut().zip(frequencies).for_each(|(angle, frequency)| *angle += x * frequency);
            }
            features.extend(angles.iter().map(|angle| angle.sin()));
            features.extend(angles.iter().map(|angle| angle.cos()));
            features
        };
        observations.par_chunks_exact(self.columns.width).flat_map_iter(features).collect()
    }

    pub fn insert_into(&self, archive: &mut Archive) {
        let used = self.columns.used.len();
        archive.insert("features.shift", &[used], self.scaling.shift.clone());
        archive.insert("features.factor", &[used], self.scaling.factor.clone());
        archive.insert("features.frequencies", &[used, FREQUENCIES], self.frequencies.clone());
    }

    pub fn take_from(archive: &mut Archive, columns: Columns) -> Result<Self, StateError> {
        let used = columns.used.len();
        let shift = archive.take("features.shift", &[used])?;
        let factor = archive.take("features.factor", &[used])?;
        let frequencies = archive.take("features.frequencies", &[used, FREQUENCIES])?;
        Ok(Self { columns, scaling: Affine { shift, factor }, frequencies })
    }
}
