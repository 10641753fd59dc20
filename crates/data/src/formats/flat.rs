//! Assembles consecutive rows into episodes.

use crate::{DataError, Defect, DefectKind, Episode, EpisodeSink, Hint, Spec, episode::Ending};
use std::path::Path;

/// The maximum size of an episode in memory: a file without end-of-episode flags would be one
/// endless episode.
pub(crate) const MAX_EPISODE_BYTES: usize = 1 << 30;

/// The number of episodes without a transition that are reported, if nearly all are such.
const MAX_EMPTY: usize = 100_000;

/// Assembles rows into episodes, for formats that store a row per state. The last row of an episode
/// is a state without a successor: its action and reward, whatever their values, are dropped.
pub(crate) struct Assembler<'a> {
    path: &'a Path,
    sink: &'a mut dyn EpisodeSink,
    spec: &'a Spec,
    episode: Episode,
    rows: usize,
    number: usize,
    /// The number of episodes without a transition.
    empty: usize,
    is_broken: bool,
}

/// A state and the action taken there.
pub(crate) struct Row<'a> {
    pub observation: &'a [f32],
    pub action: &'a [f32],
    /// Only used if the spec has rewards.
    pub reward: f32,
    /// The time in seconds, only used if the spec has timestamps.
    pub timestamp: f64,
}

impl<'a> Assembler<'a> {
    /// Passes the spec to the sink.
    pub fn begin(path: &'a Path, sink: &'a mut dyn EpisodeSink, spec: &'a Spec) -> Result<Self, DataError> {
        sink.begin(spec)?;
        let episode = Episode { extras: vec![Vec::new(); spec.extras.len()], ..Episode::default() };
        Ok(Self { path, sink, spec, episode, rows: 0, number: 0, empty: 0, is_broken: false })
    }

    /// Returns the number of rows of the current episode so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of the current episode.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Adds a state with its extra columns.
    pub fn row<'r>(
        &mut self,
        row: &Row<'_>,
        extras: impl Iterator<Item = &'r [f32]>,
    ) -> Result<(), DataError> {
        self.episode.observations.extend(row.observation);
        self.episode.actions.extend(row.action);
        if self.spec.has_rewards {
            self.episode.rewards.push(row.reward);
        }
        if self.spec.has_timestamps {
            self.episode.timestamps.push(row.timestamp);
        }
        for (gathered, values) in self.episode.extras.iter_mut().zip(extras) {
            gathered.extend(values);
        }
        self.rows += 1;
        if self.spec.episode_bytes(self.rows) > MAX_EPISODE_BYTES {
            let problem = format!("episode {} does not end within {} rows", self.number, self.rows);
            let hint = "mark the end of each episode; an episode may take up to 1 GiB";
            return Err(DataError::malformed(self.path, problem, hint));
        }
        Ok(())
    }

    /// Ends the current episode with the state after its last row, for formats that store it
    /// separately. The last row's action leads to this state.
    pub fn end_with(&mut self, observation: &[f32], ending: Ending) -> Result<(), DataError> {
        self.episode.observations.extend(observation);
        for (gathered, extra) in self.episode.extras.iter_mut().zip(&self.spec.extras) {
            // Extra columns have no row for this state, so their last row is repeated.
            let last = gathered.len() - extra.width..gathered.len();
            gathered.extend_from_within(last);
        }
        if let Some(&last) = self.episode.timestamps.last() {
            self.episode.timestamps.push(last);
        }
        self.rows += 1;
        self.close(ending)
    }

    /// Ends the current episode: its last row is its last state.
    pub fn end(&mut self, ending: Ending) -> Result<(), DataError> {
        if self.rows == 0 {
            return Ok(());
        }
        let steps = self.rows - 1;
        self.episode.actions.truncate(steps * self.spec.action.width);
        self.episode.rewards.truncate(if self.spec.has_rewards { steps } else { 0 });
        self.close(ending)
    }

    /// Ends the current episode, if any, at the end of the file, and reports its missing
    /// end-of-episode flag.
    pub fn end_unclosed(&mut self, hint: &str) -> Result<(), DataError> {
        if let Some(last) = self.rows.checked_sub(1) {
            let problem = format!("its {} rows lack an end-of-episode flag", self.rows);
            self.defect(DefectKind::Ends, Some(last), problem, hint.into())?;
        }
        self.end(Ending::Unknown)
    }

    fn close(&mut self, ending: Ending) -> Result<(), DataError> {
        self.episode.ending = ending;
        if self.rows == 1 {
            let problem = "it has a single state and no transition".to_owned();
            let hint = "remove it, or mark the end of the episode on its last row only";
            self.defect(DefectKind::Empty, Some(0), problem, hint.into())?;
            self.empty += 1;
            self.check_empty()?;
        } else if !self.is_broken {
            let view = self.episode.view(self.spec).expect("rows of the spec's widths");
            self.sink.episode(&view.numbered(self.number))?;
        }
        self.episode.clear();
        self.rows = 0;
        self.is_broken = false;
        self.number += 1;
        Ok(())
    }

    /// Gives up if nearly all episodes are empty: a small file can have millions of them, and a
    /// report of so many helps no user.
    fn check_empty(&self) -> Result<(), DataError> {
        let (empty, all) = (self.empty, self.number + 1);
        if empty < MAX_EMPTY || empty < all - all / 10 {
            return Ok(());
        }
        let problem = format!("{empty} of its first {all} episodes have a single state and no transition");
        let hint =
            "name the column that is equal in all rows of an episode, or the one that marks their ends";
        Err(DataError::malformed(self.path, problem, hint))
    }

    /// Reports a defect of the current episode to the sink. If the sink continues, it does not
    /// receive the episode.
    pub fn defect(
        &mut self,
        kind: DefectKind,
        row: Option<usize>,
        problem: String,
        hint: Hint,
    ) -> Result<(), DataError> {
        self.is_broken = true;
        let (path, episode) = (self.path.into(), Some(self.number));
        self.sink.defect(Defect { path, episode, row, kind, problem, hint })
    }
}
