//! What a world is built from: a data file.

use super::curve::Point;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a description is not one of a world.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("nav2d: {problem}; hint: crates/envs/assets/nav2d.toml is one that works")]
pub struct PlanError {
    pub(super) problem: String,
}

/// The description of a world; what each number means is said in `assets/nav2d.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the file says it")]
pub struct Plan {
    pub seed: u64,
    pub sites_per_unit: f64,
    pub street_width: f64,
    pub speed: f64,
    pub move_deviation: f64,
    pub reach: f64,
    pub observation_deviation: f64,
    pub success_radius: f64,
    pub goal_distance: f64,
    pub step_limit: usize,
    pub recordings: Recordings,
    pub streets: Vec<Street>,
}

/// How behaviour is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the file says it")]
pub struct Recordings {
    pub mean_steps: f64,
    pub least_steps: usize,
    pub most_steps: usize,
    pub drift_kept: f64,
    pub drift_added: f64,
}

/// A one-way street.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Street {
    /// What it is called.
    pub name: String,
    /// Points that it passes, in this order.
    pub points: Vec<Point>,
}

/// The longest side of a plane that sites are laid on.
const FARTHEST: f64 = 1e4;
/// Sites along a unit of a street; more would not fit in memory.
const DENSEST: f64 = 20.0;

impl Plan {
    /// The world of the study.
    pub const STANDARD: &str = include_str!("../../assets/nav2d.toml");

    /// Reads a description.
    ///
    /// # Errors
    /// If it is not TOML, lacks a number or has an impossible one.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let plan: Self =
            toml::from_str(text).map_err(|error| PlanError { problem: error.message().to_owned() })?;
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), PlanError> {
        let wrong = |problem: String| Err(PlanError { problem });
        let positive = [
            ("sites_per_unit", self.sites_per_unit),
            ("speed", self.speed),
            ("move_deviation", self.move_deviation),
            ("reach", self.reach),
            ("street_width", self.street_width),
            ("success_radius", self.success_radius),
            ("recordings.mean_steps", self.recordings.mean_steps),
        ];
        let not_negative = [
            ("observation_deviation", self.observation_deviation),
            ("goal_distance", self.goal_distance),
            ("recordings.drift_kept", self.recordings.drift_kept),
            ("recordings.drift_added", self.recordings.drift_added),
        ];
        if let Some((name, value)) =
            positive.into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0))
        {
            return wrong(format!("{name} = {value} is not a positive number"));
        }
        if let Some((name, value)) =
            not_negative.into_iter().find(|(_, value)| !(value.is_finite() && *value >= 0.0))
        {
            return wrong(format!("{name} = {value} is not zero or a positive number"));
        }
        if self.sites_per_unit > DENSEST {
            return wrong(format!("sites_per_unit = {} is more than {DENSEST}", self.sites_per_unit));
        }
        let Recordings { least_steps, most_steps, drift_kept, .. } = self.recordings;
        if least_steps == 0 || most_steps < least_steps || drift_kept >= 1.0 {
            return wrong(format!(
                "recordings of {least_steps} to {most_steps} steps with drift_kept = {drift_kept}: lengths must rise from 1, and what is kept be below 1"
            ));
        }
        if self.step_limit == 0 || self.streets.is_empty() {
            return wrong("there is nothing to do without streets and steps".into());
        }
        for Street { name, points } in &self.streets {
            let is_inside = points.iter().flatten().all(|coordinate| coordinate.abs() <= FARTHEST);
            if points.len() < 2 || !is_inside || points.windows(2).any(|pair| pair[0] == pair[1]) {
                return wrong(format!(
                    "the street {name} is not two or more different points within {FARTHEST} of the origin"
                ));
            }
        }
        Ok(())
    }
}
