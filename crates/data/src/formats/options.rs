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

/// Setters that can be chained.
macro_rules! setters {
    ($($(#[$attribute:meta])* $field:ident($value:ident: $type:ty) = $set:expr;)*) => {
        $($(#[$attribute])*
        pub fn $field(mut self, $value: $type) -> Self {
            self.$field = $set;
            self
        })*
    };
}

/// Each of these sets the field of the same name.
impl ReadOptions {
    setters! {
        /// Names the columns that make up an observation.
        observations(columns: impl IntoIterator<Item = impl Into<String>>) =
            columns.into_iter().map(Into::into).collect();
        /// Names the columns that make up an action.
        actions(columns: impl IntoIterator<Item = impl Into<String>>) =
            columns.into_iter().map(Into::into).collect();
        /// Names the column that tells the episodes of a table apart.
        episode(column: impl Into<String>) = Some(column.into());
        /// Chooses the further columns to keep.
        extras(extras: Extras) = extras;
        /// Says what ends an episode of a D4RL file.
        ends(ends: Ends) = ends;
        /// Says how many states there are per second.
        frames_per_second(rate: f64) = Some(rate);
        /// Chooses the dimensions of an observation that are the goal space.
        goal(dimensions: Range<usize>) = Some(dimensions);
        /// Says which values an action may have.
        action_bounds(bounds: Bounds) = Some(bounds);
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
                let problem = format!("{rate} frames per second");
                return Err(DataError::setting(problem, "give a positive number"));
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
            let problem = format!("there is no column '{missing}' with a number for every state");
            let hint = Remedy::Summary.hint(|tool| format!("{tool} lists the columns"));
            return Err(DataError::malformed(path, problem, hint));
        }
        Ok(())
    }
}
