//! The range and spread of a column.

/// The numbers of one dimension. Those that are not finite are counted and left out of the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionSummary {
    /// How many are finite.
    pub count: u64,
    /// How many are not.
    pub non_finite: u64,
    /// The smallest.
    pub min: f32,
    /// The largest.
    pub max: f32,
    /// The mean.
    pub mean: f64,
    squares: f64,
}

impl Default for DimensionSummary {
    fn default() -> Self {
        Self { count: 0, non_finite: 0, min: f32::INFINITY, max: f32::NEG_INFINITY, mean: 0.0, squares: 0.0 }
    }
}

impl DimensionSummary {
    /// The standard deviation.
    pub fn standard_deviation(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }

    /// Whether all numbers are equal.
    pub fn is_constant(&self) -> bool {
        self.count > 1 && self.min == self.max
    }

    /// Welford's update: stable for any number of values.
    pub(crate) fn add(&mut self, value: f32) {
        if !value.is_finite() {
            self.non_finite += 1;
            return;
        }
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let value = f64::from(value);
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
    }
}
