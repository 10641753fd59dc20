//! Episodes: T + 1 states and the T actions between them.

use crate::{DataError, EpisodeError, Spec};
use serde::{Deserialize, Serialize};

named_enum! {
    /// How an episode ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Ending, pub fn name {
        /// The format does not store how the episode ended.
        #[default]
        Unknown = "unknown",
        /// The environment terminated the episode: no state follows the last one.
        Terminated = "terminated",
        /// A time limit truncated the episode: the environment could have continued.
        Truncated = "truncated",
    }
}

impl Ending {
    /// Returns the ending with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.name() == name)
    }
}

/// An episode that owns its columns, each in row-major order.
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
    /// How the episode ended.
    pub ending: Ending,
}

/// A view of an episode in a file, a dataset or an [`Episode`].
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeView<'a> {
    /// The number of the episode in the file, counted from 0; invalid episodes count as well.
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
    /// How the episode ended.
    pub ending: Ending,
}

impl Episode {
    /// Returns a view of the episode with the columns that `spec` describes.
    ///
    /// # Errors
    /// Returns an error if the columns do not match the spec or each other.
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
        let optional = |is_present: bool, rows: usize| if is_present { rows } else { 0 };
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

    /// Clears the episode and keeps its memory.
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
    /// Sets the number of the episode.
    pub fn numbered(self, number: usize) -> Self {
        Self { number, ..self }
    }

    /// Rejects an episode without a transition, since nothing could be sampled from it.
    pub(crate) fn require_transition(&self) -> Result<(), DataError> {
        match self.steps {
            0 => Err(DataError::episode(self.number, EpisodeError::NoTransition { states: 1 })),
            _ => Ok(()),
        }
    }

    /// Rejects numbers that are not finite.
    pub fn require_finite(&self, spec: &Spec) -> Result<(), EpisodeError> {
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

    /// Returns a copy that owns its columns.
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
