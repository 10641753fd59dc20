//! The names, widths and meanings of a dataset's columns.

use crate::{Hint, Remedy};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use thiserror::Error;

/// The maximum number of values of an observation, an action, or a state's extra columns, since
/// memory is allocated for each of them.
const MAX_WIDTH: usize = 1 << 16;
/// The maximum number of tasks or subtasks: their numbers are exact in float32 up to here.
const MAX_NAMES: usize = 1 << 24;

/// The shape and meaning of every episode of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The observation of every state.
    pub observation: Feature,
    /// The action at every state but the last. Its width is 0 if the dataset has states only.
    pub action: Feature,
    /// Whether every action has a reward.
    pub has_rewards: bool,
    /// Whether every state has a time, in seconds.
    pub has_timestamps: bool,
    /// Additional columns, with one row per state.
    pub extras: Vec<Feature>,
    /// The number of states per second, if the rate is fixed.
    pub frames_per_second: Option<f64>,
    /// The dimensions of an observation that form the goal space; `None` for all of them.
    pub goal: Option<Range<usize>>,
    /// The names of the tasks, indexed by the extra column `task_index`; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// The names of the subtasks, indexed by the extra column `subtask`, which is -1 where there is
    /// none; empty if there are no subtasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subtasks: Vec<String>,
}

/// A named column: `width` numbers per row.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Feature {
    /// The name in the file.
    pub name: String,
    /// The number of values per row.
    pub width: usize,
    /// The names of the dimensions; empty if they have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<String>,
    /// The values allowed in each dimension, if known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bounds>,
    /// The weight of each dimension in a standardized row; empty if all have the weight 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f32>,
}

/// The range of values allowed in one dimension. `None` means unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The smallest value.
    pub low: Option<f32>,
    /// The largest value.
    pub high: Option<f32>,
}

/// The reason why a spec is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Observations have no dimension.
    #[error("observations have no dimension")]
    NoObservations,
    /// A row has more values than this crate supports.
    #[error("the width of the {column} is {width}, more than {MAX_WIDTH}")]
    TooWide {
        /// The columns that are too wide.
        column: &'static str,
        /// The number of values per row.
        width: usize,
    },
    /// Two extra columns have the same name.
    #[error("two columns are called '{name}'")]
    DuplicateColumn {
        /// The name of both columns.
        name: String,
    },
    /// An extra column has width 0.
    #[error("column '{name}' is empty")]
    EmptyColumn {
        /// The name of the column.
        name: String,
    },
    /// The number of states per second is not positive.
    #[error("frames_per_second is {rate}, not a positive number")]
    FrameRate {
        /// The number, as text.
        rate: String,
    },
    /// Something that each dimension of a column has is given for another number of dimensions.
    #[error("column '{name}' has {width} dimensions, but {found} {what}")]
    Dimensions {
        /// The name of the column.
        name: String,
        /// The number of values per row.
        width: usize,
        /// What each dimension has.
        what: &'static str,
        /// How many there are.
        found: usize,
    },
    /// A weight is negative or not finite.
    #[error("a weight of column '{name}' is {weight}, not a number from 0")]
    Weight {
        /// The name of the column.
        name: String,
        /// The weight, as text.
        weight: String,
    },
    /// There are more tasks or subtasks than a column of float32 can number.
    #[error("it has {found} {what}, more than {MAX_NAMES}")]
    TooManyNames {
        /// What is named.
        what: &'static str,
        /// How many there are.
        found: usize,
    },
    /// The goal space is empty or not part of an observation.
    #[error("goal space {}..{} does not fit observations of {width} dimensions", goal.start, goal.end)]
    GoalSpace {
        /// The first dimension, and the one after the last.
        goal: Range<usize>,
        /// The width of an observation.
        width: usize,
    },
}

impl SpecError {
    /// Returns what to do about the error.
    pub fn hint(&self) -> Hint {
        let extras = |text: &str| Remedy::Extras.hint(|option| format!("{text} {option}"));
        match self {
            Self::NoObservations => {
                Remedy::Observations.hint(|option| format!("select other columns with {option}"))
            }
            Self::TooWide { .. } => extras("select fewer columns, or exclude some with"),
            Self::DuplicateColumn { .. } => extras("rename one, or exclude both with"),
            Self::EmptyColumn { .. } => extras("exclude it with"),
            Self::FrameRate { .. } => Remedy::FrameRate.hint(|option| format!("set the rate with {option}")),
            Self::Dimensions { .. } | Self::Weight { .. } => {
                "the metadata contradict each other; write the file again".into()
            }
            Self::TooManyNames { .. } => "give several tasks the same name".into(),
            Self::GoalSpace { .. } => {
                "give the first dimension and the one after the last, such as 0..2".into()
            }
        }
    }
}

impl Bounds {
    /// Returns whether a value lies within the bounds. NaN does not.
    pub fn contain(&self, value: f32) -> bool {
        self.low.is_none_or(|low| value >= low) && self.high.is_none_or(|high| value <= high)
    }
}

impl Feature {
    /// Creates a column without names of dimensions and bounds.
    pub fn new(name: impl Into<String>, width: usize) -> Self {
        Self { name: name.into(), width, ..Self::default() }
    }

    /// Rejects names, bounds and weights that do not belong to the dimensions.
    fn check(&self) -> Result<(), SpecError> {
        let Self { name, width, dimensions, bounds, weights } = self;
        let lengths = [("names", dimensions.len()), ("bounds", bounds.len()), ("weights", weights.len())];
        if let Some((what, found)) = lengths.into_iter().find(|(_, found)| ![0, *width].contains(found)) {
            return Err(SpecError::Dimensions { name: name.clone(), width: *width, what, found });
        }
        match weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            Some(weight) => Err(SpecError::Weight { name: name.clone(), weight: weight.to_string() }),
            None => Ok(()),
        }
    }

    /// Returns the name of a dimension: its own, or the name of the column with an index.
    pub fn dimension(&self, index: usize) -> String {
        match self.dimensions.get(index) {
            Some(name) => name.clone(),
            None if self.width == 1 => self.name.clone(),
            None => format!("{}[{index}]", self.name),
        }
    }
}

impl Spec {
    /// Creates a spec with observations and actions of the given widths, and no other columns.
    pub fn new(observation_width: usize, action_width: usize) -> Self {
        Self {
            observation: Feature::new("observations", observation_width),
            action: Feature::new("actions", action_width),
            has_rewards: false,
            has_timestamps: false,
            extras: Vec::new(),
            frames_per_second: None,
            goal: None,
            tasks: Vec::new(),
            subtasks: Vec::new(),
        }
    }

    /// Returns the dimensions of an observation that form the goal space.
    pub fn goal_space(&self) -> Range<usize> {
        self.goal.clone().unwrap_or(0..self.observation.width)
    }

    /// Rejects an invalid spec before any memory is allocated for it.
    ///
    /// # Errors
    /// Returns the first problem found.
    pub fn check(&self) -> Result<(), SpecError> {
        if self.observation.width == 0 {
            return Err(SpecError::NoObservations);
        }
        let extras = self.extras.iter().map(|extra| extra.width).fold(0, usize::saturating_add);
        let widths = [
            ("observation", self.observation.width),
            ("action", self.action.width),
            ("extra columns", extras),
        ];
        if let Some((column, width)) = widths.into_iter().find(|(_, width)| *width > MAX_WIDTH) {
            return Err(SpecError::TooWide { column, width });
        }
        let mut names: Vec<&str> = self.extras.iter().map(|extra| extra.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SpecError::DuplicateColumn { name: pair[0].into() });
        }
        if let Some(extra) = self.extras.iter().find(|extra| extra.width == 0) {
            return Err(SpecError::EmptyColumn { name: extra.name.clone() });
        }
        if let Some(rate) = self.frames_per_second.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return Err(SpecError::FrameRate { rate: rate.to_string() });
        }
        for feature in [&self.observation, &self.action].into_iter().chain(&self.extras) {
            feature.check()?;
        }
        for (what, names) in [("tasks", &self.tasks), ("subtasks", &self.subtasks)] {
            if names.len() > MAX_NAMES {
                return Err(SpecError::TooManyNames { what, found: names.len() });
            }
        }
        match &self.goal {
            Some(goal) if goal.start >= goal.end || goal.end > self.observation.width => {
                Err(SpecError::GoalSpace { goal: goal.clone(), width: self.observation.width })
            }
            _ => Ok(()),
        }
    }

    /// Returns the size in bytes of an episode of this many steps in memory.
    pub(crate) fn episode_bytes(&self, steps: usize) -> usize {
        let per_state = self.observation.width + self.extras.iter().map(|extra| extra.width).sum::<usize>();
        let per_state = 4 * per_state + if self.has_timestamps { 8 } else { 0 };
        let per_step = 4 * (self.action.width + usize::from(self.has_rewards));
        (steps + 1).saturating_mul(per_state).saturating_add(steps.saturating_mul(per_step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_that_contradict_each_other_are_refused() {
        let changed = |change: fn(&mut Spec)| {
            let mut spec = Spec::new(2, 1);
            spec.extras.push(Feature::new("x", 1));
            spec.check().unwrap();
            change(&mut spec);
            let error = spec.check().unwrap_err();
            assert!(!error.hint().to_string().is_empty());
            error.to_string()
        };
        for rate in [0.0, -5.0, f64::NAN, f64::INFINITY] {
            let spec = Spec { frames_per_second: Some(rate), ..Spec::new(2, 1) };
            assert!(matches!(spec.check(), Err(SpecError::FrameRate { .. })), "{rate}");
        }
        let names = changed(|spec| spec.observation.dimensions = vec!["a".into()]);
        assert_eq!(names, "column 'observations' has 2 dimensions, but 1 names");
        let bounds = changed(|spec| spec.action.bounds = vec![Bounds { low: None, high: None }; 2]);
        assert_eq!(bounds, "column 'actions' has 1 dimensions, but 2 bounds");
        let weights = changed(|spec| spec.extras[0].weights = vec![1.0; 3]);
        assert_eq!(weights, "column 'x' has 1 dimensions, but 3 weights");
        let weight = changed(|spec| spec.observation.weights = vec![1.0, -1.0]);
        assert_eq!(weight, "a weight of column 'observations' is -1, not a number from 0");
    }
}
