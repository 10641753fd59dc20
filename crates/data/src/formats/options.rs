//! What a user can say about files that do not say it themselves.

use crate::{Bounds, DataError, Remedy, Spec};
use serde::{Deserialize, Serialize};
use std::{ops::Range, path::Path};

/// How to read a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// Columns that make up an observation, in this order; by default what the format calls so.
    pub observations: Vec<String>,
    /// Columns that make up an action; by default what the format calls so.
    pub actions: Vec<String>,
    /// Tables: the column that tells episodes apart.
    pub episode: Option<String>,
    /// Tables: the column with the reward.
    pub reward: Option<String>,
    /// Tables: the column with the time in seconds.
    pub time: Option<String>,
    /// Which further columns to keep.
    pub extras: Extras,
    /// D4RL: what ends an episode.
    pub ends: Ends,
    /// States per second; overrides the file.
    pub frames_per_second: Option<f64>,
    /// The dimensions of an observation that are the goal space.
    pub goal: Option<Range<usize>>,
    /// The smallest and largest value of an action; overrides the file.
    pub action_bounds: Option<Bounds>,
}

/// Which further columns to keep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extras {
    /// All that have a row for every state.
    #[default]
    All,
    /// Only these.
    Named(Vec<String>),
}

/// What ends an episode of a D4RL file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// The one of the two flags that occurs; with both, `timeouts` in mazes, and elsewhere the user is asked.
    #[default]
    Auto,
    /// `timeouts` only: mazes, where `terminals` mark visits of the goal.
    Timeouts,
    /// `terminals` only.
    Terminals,
    /// Either: locomotion, where a fall resets the environment.
    Either,
}

/// Each of these sets the field of the same name.
impl ReadOptions {
    /// Names the columns that make up an observation.
    pub fn observations(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.observations = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Names the columns that make up an action.
    pub fn actions(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.actions = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Names the column that tells the episodes of a table apart.
    pub fn episode(mut self, column: impl Into<String>) -> Self {
        self.episode = Some(column.into());
        self
    }

    /// Chooses the further columns to keep.
    pub fn extras(mut self, extras: Extras) -> Self {
        self.extras = extras;
        self
    }

    /// Says what ends an episode of a D4RL file.
    pub fn ends(mut self, ends: Ends) -> Self {
        self.ends = ends;
        self
    }

    /// Says how many states there are per second.
    pub fn frames_per_second(mut self, rate: f64) -> Self {
        self.frames_per_second = Some(rate);
        self
    }

    /// Chooses the dimensions of an observation that are the goal space.
    pub fn goal(mut self, dimensions: Range<usize>) -> Self {
        self.goal = Some(dimensions);
        self
    }

    /// Says which values an action may have.
    pub fn action_bounds(mut self, bounds: Bounds) -> Self {
        self.action_bounds = Some(bounds);
        self
    }

    pub(crate) fn wants_extra(&self, name: &str) -> bool {
        match &self.extras {
            Extras::All => true,
            Extras::Named(names) => names.iter().any(|wanted| wanted == name),
        }
    }

    /// Adds to the spec of a file these options, and checks that they are possible.
    pub(crate) fn complete(&self, path: &Path, spec: &mut Spec) -> Result<(), DataError> {
        if let Some(rate) = self.frames_per_second {
            if !(rate > 0.0 && rate.is_finite()) {
                return Err(DataError::setting(
                    format!("{rate} frames per second"),
                    "give a positive number",
                ));
            }
            spec.frames_per_second = Some(rate);
        }
        spec.goal = self.goal.clone().or(spec.goal.take());
        spec.check().map_err(|problem| DataError::malformed(path, problem.to_string(), problem.hint()))?;
        if let Some(bounds) = self.action_bounds {
            spec.action.bounds = vec![bounds; spec.action.width];
        }
        let has_extra = |name: &String| spec.extras.iter().any(|extra| extra.name == *name);
        if let Extras::Named(names) = &self.extras
            && let Some(missing) = names.iter().find(|name| !has_extra(name))
        {
            return Err(DataError::malformed(
                path,
                format!("there is no column '{missing}' with a number for every state"),
                Remedy::Summary.hint(|tool| format!("{tool} lists the columns")),
            ));
        }
        Ok(())
    }
}
