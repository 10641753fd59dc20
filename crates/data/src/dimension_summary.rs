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

    /// Adds all values of another summary.
    pub fn merge(&mut self, other: &Self) {
        self.non_finite += other.non_finite;
        if other.count == 0 {
            return;
        }
        let (own, others) = (self.count as f64, other.count as f64);
        let delta = other.mean - self.mean;
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.mean += delta * others / (own + others);
        self.squares += other.squares + delta * delta * own * others / (own + others);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_summaries_are_those_of_all_values() {
        let of = |values: &[f32]| {
            let mut summary = DimensionSummary::default();
            values.iter().for_each(|&value| summary.add(value));
            summary
        };
        let mut merged = of(&[1.0, 2.0]);
        merged.merge(&of(&[]));
        merged.merge(&of(&[7.0, f32::NAN, -4.0]));
        let all = of(&[1.0, 2.0, 7.0, f32::NAN, -4.0]);
        assert_eq!((merged.count, merged.non_finite, merged.min, merged.max), (4, 1, -4.0, 7.0));
        assert!((merged.mean - all.mean).abs() < 1e-12);
        assert!((merged.standard_deviation() - all.standard_deviation()).abs() < 1e-12);
    }
}
