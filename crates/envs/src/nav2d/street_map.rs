//! The description of the streets, a TOML file.

use crate::geometry::Point;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why streets cannot be built from a description.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("nav2d: {problem}; hint: compare with `StreetMap::STANDARD`")]
pub struct StreetMapError {
    pub(super) problem: String,
}

/// The description of streets; `assets/nav2d.toml` documents the fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the file documents them")]
pub struct StreetMap {
    pub seed: u64,
    pub sites_per_unit: f64,
    pub street_width: f64,
    pub speed: f64,
    pub transition_std: f64,
    pub reach: f64,
    pub observation_std: f64,
    pub success_radius: f64,
    pub goal_distance: f64,
    pub max_episode_steps: usize,
    pub collection: Collection,
    pub streets: Vec<Street>,
}

/// The data collection settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the file documents them")]
pub struct Collection {
    pub mean_steps: f64,
    pub min_steps: usize,
    pub max_steps: usize,
    pub drift_kept: f64,
    pub drift_added: f64,
}

/// A one-way street.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Street {
    /// The name of the street.
    pub name: String,
    /// The points that the street passes through, in this order.
    pub points: Vec<Point>,
}

/// The maximum absolute coordinate of a street.
const MAX_COORDINATE: f64 = 1e4;
/// The maximum number of sites per unit of street length; more would not fit in memory.
const MAX_SITES_PER_UNIT: f64 = 20.0;

impl StreetMap {
    /// The streets of the study.
    pub const STANDARD: &str = include_str!("../../assets/nav2d.toml");
    /// The streets of the second study, on which moving straight towards the goal mostly fails.
    pub const VERSION_2: &str = include_str!("../../assets/nav2d-v2.toml");

    /// Parses a description.
    ///
    /// # Errors
    /// If the text is not valid TOML, or a field is missing or out of range.
    pub fn parse(text: &str) -> Result<Self, StreetMapError> {
        let map: Self =
            toml::from_str(text).map_err(|error| StreetMapError { problem: error.message().to_owned() })?;
        map.check()?;
        Ok(map)
    }

    fn check(&self) -> Result<(), StreetMapError> {
        let wrong = |problem: String| Err(StreetMapError { problem });
        let (positive, not_negative) = ("a positive number", "zero or a positive number");
        for (name, value, expected) in [
            ("sites_per_unit", self.sites_per_unit, positive),
            ("speed", self.speed, positive),
            ("transition_std", self.transition_std, positive),
            ("reach", self.reach, positive),
            ("street_width", self.street_width, positive),
            ("success_radius", self.success_radius, positive),
            ("collection.mean_steps", self.collection.mean_steps, positive),
            ("observation_std", self.observation_std, not_negative),
            ("goal_distance", self.goal_distance, not_negative),
            ("collection.drift_kept", self.collection.drift_kept, not_negative),
            ("collection.drift_added", self.collection.drift_added, not_negative),
        ] {
            let is_in_range = value > 0.0 || (value == 0.0 && expected == not_negative);
            if !(value.is_finite() && is_in_range) {
                return wrong(format!("{name} = {value} is not {expected}"));
            }
        }
        let sites_per_unit = self.sites_per_unit;
        if sites_per_unit > MAX_SITES_PER_UNIT {
            return wrong(format!("sites_per_unit = {sites_per_unit} is more than {MAX_SITES_PER_UNIT}"));
        }
        let Collection { min_steps, max_steps, drift_kept, .. } = self.collection;
        if min_steps == 0 || max_steps < min_steps || drift_kept >= 1.0 {
            return wrong(format!(
                "min_steps = {min_steps}, max_steps = {max_steps}, drift_kept = {drift_kept}: min_steps must be at least 1, max_steps at least min_steps, and drift_kept below 1"
            ));
        }
        if self.max_episode_steps == 0 || self.streets.is_empty() {
            return wrong("max_episode_steps is 0, or there are no streets".into());
        }
        for Street { name, points } in &self.streets {
            let is_inside = points.iter().flatten().all(|coordinate| coordinate.abs() <= MAX_COORDINATE);
            if points.len() < 2 || !is_inside || points.windows(2).any(|pair| pair[0] == pair[1]) {
                return wrong(format!(
                    "street {name}: fewer than two points, two equal points in a row, or a coordinate beyond {MAX_COORDINATE}"
                ));
            }
        }
        Ok(())
    }
}
