//! Means of metrics since the last record.

use crate::metrics::Metrics;
use serde::{Deserialize, Serialize};

/// Averages metrics by name, in the order in which names first occurred.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricAverager {
    sums: Vec<(String, f64, u64)>,
}

impl MetricAverager {
    /// Adds the metrics of one update.
    pub fn add(&mut self, metrics: &Metrics) {
        for (name, value) in metrics.iter() {
            match self.sums.iter_mut().find(|(known, ..)| known == name) {
                Some((_, sum, count)) => {
                    *sum += value;
                    *count += 1;
                }
                None => self.sums.push((name.to_owned(), value, 1)),
            }
        }
    }

    /// Returns the means and resets the averager.
    pub fn take(&mut self) -> Vec<(String, f64)> {
        self.sums.drain(..).map(|(name, sum, count)| (name, sum / count as f64)).collect()
    }
}
