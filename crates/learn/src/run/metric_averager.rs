//! Means of what was measured since the last line of metrics.

use crate::metrics::Metrics;
use serde::{Deserialize, Serialize};

/// Sums by name, in the order in which names were first seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricAverager {
    sums: Vec<(String, f64, u64)>,
}

impl MetricAverager {
    /// Adds what one update measured.
    pub fn add(&mut self, metrics: &Metrics) {
        for (index, (name, value)) in metrics.iter().enumerate() {
            // Learners report the same numbers in the same order.
            let place = match self.sums.get(index) {
                Some((known, ..)) if known == name => Some(index),
                _ => self.sums.iter().position(|(known, ..)| known == name),
            };
            match place {
                Some(place) => {
                    self.sums[place].1 += value;
                    self.sums[place].2 += 1;
                }
                None => self.sums.push((name.to_owned(), value, 1)),
            }
        }
    }

    /// The means, and a fresh start.
    pub fn take(&mut self) -> Vec<(String, f64)> {
        self.sums.drain(..).map(|(name, sum, count)| (name, sum / count as f64)).collect()
    }
}
