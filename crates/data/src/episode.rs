//! One episode: T + 1 states, T actions between them.

use crate::{DataError, Spec};
use serde::{Deserialize, Serialize};

/// How an episode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The format does not say.
    #[default]
    Unknown,
    /// By itself: nothing comes after the last state.
    Terminated,
    /// By the clock: the world went on, the recording did not.
    Truncated,
}

impl Ending {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Terminated => "terminated",
            Self::Truncated => "truncated",
        }
    }

    /// The ending of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Unknown, Self::Terminated, Self::Truncated].into_iter().find(|ending| ending.name() == name)
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

/// An episode that lies in a file, a data set or an [`Episode`].
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
    /// Looks at it as `spec` says. `None` if the columns do not fit each other.
    pub fn view(&self, spec: &Spec) -> Option<EpisodeView<'_>> {
        let width = spec.observation.width;
        let states = self.observations.len().checked_div(width).unwrap_or(0);
        let steps = states.checked_sub(1)?;
        let optional = |is_there: bool, rows: usize| if is_there { rows } else { 0 };
        let fits = self.observations.len() == states * width
            && self.actions.len() == steps * spec.action.width
            && self.rewards.len() == optional(spec.has_rewards, steps)
            && self.timestamps.len() == optional(spec.has_timestamps, states)
            && self.extras.len() == spec.extras.len()
            && self.extras.iter().zip(&spec.extras).all(|(rows, extra)| rows.len() == states * extra.width);
        fits.then(|| EpisodeView {
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

    /// What keeps episodes refuses those without a transition: nothing could be drawn from them.
    pub(crate) fn require_transition(&self) -> Result<(), DataError> {
        if self.steps > 0 {
            return Ok(());
        }
        Err(DataError::setting(
            format!("episode {} has a single state and no transition", self.number),
            "leave it out",
        ))
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
