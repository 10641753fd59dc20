//! What the columns of a dataset are called, how wide they are, and what they mean.

use crate::{Hint, Remedy};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use thiserror::Error;

/// Numbers of a state, or of an action: what comes after has room for each of them.
const MAX_WIDTH: usize = 1 << 16;

/// The shape and meaning of every episode of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// What is seen at every state.
    pub observation: Feature,
    /// What is done at every state but the last. Width 0 where a log has states only.
    pub action: Feature,
    /// Whether every action has a reward.
    pub has_rewards: bool,
    /// Whether every state has a time, in seconds.
    pub has_timestamps: bool,
    /// Further columns, with a row for every state.
    pub extras: Vec<Feature>,
    /// States per second, if they come at a fixed rate.
    pub frames_per_second: Option<f64>,
    /// The dimensions of an observation that say where one wants to be; all of them if not given.
    pub goal: Option<Range<usize>>,
}

/// A named column: `width` numbers per row.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Feature {
    /// What the file calls it.
    pub name: String,
    /// Numbers per row.
    pub width: usize,
    /// Names of the dimensions; empty if they have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<String>,
    /// The values allowed in each dimension, if known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bounds>,
}

/// The values allowed in one dimension. `None` is open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The smallest value.
    pub low: Option<f32>,
    /// The largest value.
    pub high: Option<f32>,
}

/// Why a spec is impossible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// An observation has no number.
    #[error("its observations have no dimension")]
    NoObservations,
    /// A row has more numbers than this crate makes room for.
    #[error("its {column} has {width} numbers, more than {MAX_WIDTH}")]
    TooWide {
        /// Which columns.
        column: &'static str,
        /// Numbers per row.
        width: usize,
    },
    /// Two extra columns have one name.
    #[error("two columns are called '{name}'")]
    DuplicateColumn {
        /// Their name.
        name: String,
    },
    /// An extra column has no number.
    #[error("its column '{name}' is empty")]
    EmptyColumn {
        /// Its name.
        name: String,
    },
    /// The goal space is empty or not part of an observation.
    #[error("goal space {}..{} of {width} dimensions", goal.start, goal.end)]
    GoalSpace {
        /// The first dimension, and the one after the last.
        goal: Range<usize>,
        /// Numbers of an observation.
        width: usize,
    },
}

impl SpecError {
    /// What to do about it.
    pub fn hint(&self) -> Hint {
        let extras = |text: &str| Remedy::Extras.hint(|option| format!("{text} {option}"));
        match self {
            Self::NoObservations => {
                Remedy::Observations.hint(|option| format!("name other columns with {option}"))
            }
            Self::TooWide { .. } => extras("choose fewer columns, or leave some out with"),
            Self::DuplicateColumn { .. } => extras("rename one, or leave both out with"),
            Self::EmptyColumn { .. } => extras("leave it out with"),
            Self::GoalSpace { .. } => {
                "give the first dimension and the one after the last, such as 0..2".into()
            }
        }
    }
}

impl Bounds {
    /// Whether a value lies inside. NaN does not.
    pub fn contain(&self, value: f32) -> bool {
        self.low.is_none_or(|low| value >= low) && self.high.is_none_or(|high| value <= high)
    }
}

impl Feature {
    /// A column without further details.
    pub fn new(name: impl Into<String>, width: usize) -> Self {
        Self { name: name.into(), width, ..Self::default() }
    }

    /// The name of a dimension: its own, or the column's with a number.
    pub fn dimension(&self, index: usize) -> String {
        match self.dimensions.get(index) {
            Some(name) => name.clone(),
            None if self.width == 1 => self.name.clone(),
            None => format!("{}[{index}]", self.name),
        }
    }
}

impl Spec {
    /// Observations and actions of the given widths, and nothing else.
    pub fn new(observation_width: usize, action_width: usize) -> Self {
        Self {
            observation: Feature::new("observations", observation_width),
            action: Feature::new("actions", action_width),
            has_rewards: false,
            has_timestamps: false,
            extras: Vec::new(),
            frames_per_second: None,
            goal: None,
        }
    }

    /// The dimensions of an observation that are the goal space.
    pub fn goal_space(&self) -> Range<usize> {
        self.goal.clone().unwrap_or(0..self.observation.width)
    }

    /// Refuses what no dataset has, before any memory is reserved for it.
    ///
    /// # Errors
    /// The first thing that is impossible.
    pub fn check(&self) -> Result<(), SpecError> {
        if self.observation.width == 0 {
            return Err(SpecError::NoObservations);
        }
        let extras = self.extras.iter().map(|extra| extra.width).fold(0, usize::saturating_add);
        let widths = [
            ("observation", self.observation.width),
            ("action", self.action.width),
            ("state's extra columns", extras),
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
        match &self.goal {
            Some(goal) if goal.start >= goal.end || goal.end > self.observation.width => {
                Err(SpecError::GoalSpace { goal: goal.clone(), width: self.observation.width })
            }
            _ => Ok(()),
        }
    }

    /// Bytes of an episode of this many steps, in memory.
    pub(crate) fn episode_bytes(&self, steps: usize) -> usize {
        let per_state = self.observation.width + self.extras.iter().map(|extra| extra.width).sum::<usize>();
        let per_state = 4 * per_state + if self.has_timestamps { 8 } else { 0 };
        let per_step = 4 * (self.action.width + usize::from(self.has_rewards));
        (steps + 1).saturating_mul(per_state).saturating_add(steps.saturating_mul(per_step))
    }
}
