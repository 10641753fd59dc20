//! Metrics of one update.

use isochrone_nn::loss::Loss;

/// Values named `part/quantity`; those named `part/loss` are minimized.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics {
    entries: Vec<(String, f64)>,
}

impl Metrics {
    /// Adds the value of a loss and its diagnostics.
    pub fn add(&mut self, part: &str, loss: &Loss) {
        self.put(part, "loss", loss.item());
        loss.diagnostics.read().into_iter().for_each(|(name, value)| self.put(part, name, value));
    }

    /// Adds a value.
    pub fn put(&mut self, part: &str, name: &str, value: f64) {
        self.entries.push((format!("{part}/{name}"), value));
    }

    /// Replaces all values, in the order of [`iter`](Self::iter).
    pub(crate) fn set_all(&mut self, values: &[f64]) {
        self.entries.iter_mut().zip(values).for_each(|((_, entry), value)| *entry = *value);
    }

    /// Returns a value by its full name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.entries.iter().find(|(entry, _)| entry == name).map(|(_, value)| *value)
    }

    /// Iterates over all values in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Returns the first value that is not finite.
    pub fn first_non_finite(&self) -> Option<(&str, f64)> {
        self.iter().find(|(_, value)| !value.is_finite())
    }
}
