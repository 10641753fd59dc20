//! Summary statistics of one dimension of a column.

/// Summary statistics of one dimension. Values that are not finite are only counted.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionSummary {
    /// The number of finite values.
    pub count: u64,
    /// The number of values that are not finite.
    pub non_finite: u64,
    /// The smallest finite value.
    pub min: f32,
    /// The largest finite value.
    pub max: f32,
    /// The mean of the finite values.
    pub mean: f64,
    squares: f64,
}

impl Default for DimensionSummary {
    fn default() -> Self {
        Self { count: 0, non_finite: 0, min: f32::INFINITY, max: f32::NEG_INFINITY, mean: 0.0, squares: 0.0 }
    }
}

impl DimensionSummary {
    /// Returns the standard deviation.
    pub fn standard_deviation(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }

    /// Returns whether there is more than one value and all are equal.
    pub fn is_constant(&self) -> bool {
        self.count > 1 && self.min == self.max
    }

    /// Adds a value by Welford's update, which is numerically stable for any number of values.
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
