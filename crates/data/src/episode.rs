//! One episode: T + 1 states, T actions between them.

use crate::{DataError, EpisodeError, Spec};
use serde::{Deserialize, Serialize};

named_enum! {
    /// How an episode ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Ending, pub fn name {
        /// The format does not say.
        #[default]
        Unknown = "unknown",
        /// By the environment: nothing comes after the last state.
        Terminated = "terminated",
        /// By a time limit: the environment could have continued.
        Truncated = "truncated",
    }
}

impl Ending {
    /// The ending of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.name() == name)
    }
}

/// An episode that owns its columns. Rows lie one after another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Episode {
    /// `[T + 1, observation width]`.
    pub observations: Vec<f32>,
    /// `[T, action width]`.
    pub actions: Vec<f32>,
    /// `[T]`, or empty.
    pub rewards: Vec<f32>,
    /// `[T + 1]` in seconds, or empty.
    pub timestamps: Vec<f64>,
    /// `[T + 1, width]` for each extra column of the spec.
    pub extras: Vec<Vec<f32>>,
    /// How it ended.
    pub ending: Ending,
}

/// An episode that lies in a file, a dataset or an [`Episode`].
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeView<'a> {
    /// Its number in the file, counted from 0; broken episodes before it count as well.
    pub number: usize,
    /// The number of actions T.
    pub steps: usize,
    /// `[T + 1, observation width]`.
    pub observations: &'a [f32],
    /// `[T, action width]`.
    pub actions: &'a [f32],
    /// `[T]`, or empty.
    pub rewards: &'a [f32],
    /// `[T + 1]` in seconds, or empty.
    pub timestamps: &'a [f64],
    /// `[T + 1, width]` for each extra column of the spec.
    pub extras: Vec<&'a [f32]>,
    /// How it ended.
    pub ending: Ending,
}

impl Episode {
    /// Reads it as `spec` says.
    ///
    /// # Errors
    /// If the columns do not fit the spec or each other.
    pub fn view(&self, spec: &Spec) -> Result<EpisodeView<'_>, EpisodeError> {
        let rows = |column: &str, found: usize, width: usize| match width {
            0 if found == 0 => Ok(None),
            _ if width > 0 && found.is_multiple_of(width) => Ok(Some(found / width)),
            _ => Err(EpisodeError::Width { column: column.into(), width, found }),
        };
        let states = rows("observations", self.observations.len(), spec.observation.width)?.unwrap_or(0);
        let steps = states.checked_sub(1).ok_or(EpisodeError::NoTransition { states })?;
        let require =
            |column: &str, found: usize, width: usize, expected: usize| match rows(column, found, width)? {
                Some(found) if found != expected => {
                    Err(EpisodeError::Rows { column: column.into(), expected, found })
                }
                _ => Ok(()),
            };
        let optional = |is_there: bool, rows: usize| if is_there { rows } else { 0 };
        require("actions", self.actions.len(), spec.action.width, steps)?;
        require("rewards", self.rewards.len(), 1, optional(spec.has_rewards, steps))?;
        require("timestamps", self.timestamps.len(), 1, optional(spec.has_timestamps, states))?;
        if self.extras.len() != spec.extras.len() {
            return Err(EpisodeError::Extras { expected: spec.extras.len(), found: self.extras.len() });
        }
        for (values, extra) in self.extras.iter().zip(&spec.extras) {
            require(&extra.name, values.len(), extra.width, states)?;
        }
        Ok(EpisodeView {
            number: 0,
            steps,
            observations: &self.observations,
            actions: &self.actions,
            rewards: &self.rewards,
            timestamps: &self.timestamps,
            extras: self.extras.iter().map(Vec::as_slice).collect(),
            ending: self.ending,
        })
    }

    /// Empties it and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.observations.clear();
        self.actions.clear();
        self.rewards.clear();
        self.timestamps.clear();
        self.extras.iter_mut().for_each(Vec::clear);
        self.ending = Ending::Unknown;
    }
}

impl EpisodeView<'_> {
    /// The same with its number.
    pub fn numbered(self, number: usize) -> Self {
        Self { number, ..self }
    }

    /// Refuses episodes without a transition: nothing could be sampled from them.
    pub(crate) fn require_transition(&self) -> Result<(), DataError> {
        match self.steps {
            0 => Err(DataError::episode(self.number, EpisodeError::NoTransition { states: 1 })),
            _ => Ok(()),
        }
    }

    /// Refuses numbers that are not finite.
    pub(crate) fn require_finite(&self, spec: &Spec) -> Result<(), EpisodeError> {
        let check = |column: &str, width: usize, values: &mut dyn Iterator<Item = f64>| {
            let found = values.enumerate().find(|(_, value)| !value.is_finite());
            found.map_or(Ok(()), |(at, value)| {
                Err(EpisodeError::NotFinite { column: column.into(), row: at / width, value })
            })
        };
        fn wide(values: &[f32]) -> impl Iterator<Item = f64> {
            values.iter().map(|&value| f64::from(value))
        }
        check("observations", spec.observation.width, &mut wide(self.observations))?;
        check("actions", spec.action.width, &mut wide(self.actions))?;
        check("rewards", 1, &mut wide(self.rewards))?;
        check("timestamps", 1, &mut self.timestamps.iter().copied())?;
        for (values, extra) in self.extras.iter().zip(&spec.extras) {
            check(&extra.name, extra.width, &mut wide(values))?;
        }
        Ok(())
    }

    /// A copy that owns its columns.
    pub fn to_owned(&self) -> Episode {
        Episode {
            observations: self.observations.to_vec(),
            actions: self.actions.to_vec(),
            rewards: self.rewards.to_vec(),
            timestamps: self.timestamps.to_vec(),
            extras: self.extras.iter().map(|rows| rows.to_vec()).collect(),
            ending: self.ending,
        }
    }
}
