//! From rows that come one after another to episodes.

use crate::{DataError, Defect, DefectKind, Episode, EpisodeSink, Hint, Spec, episode::Ending};
use std::path::Path;

/// No episode may be larger in memory: a file whose marks of episodes are lost is one endless episode.
pub(crate) const MAX_EPISODE_BYTES: usize = 1 << 30;

/// Puts rows together to episodes, for formats that store a row per state. The last row of an episode is a state without a successor:
/// its action and reward, whatever the format has there, lead nowhere and are left out.
pub(crate) struct Assembler<'a> {
    path: &'a Path,
    sink: &'a mut dyn EpisodeSink,
    spec: &'a Spec,
    episode: Episode,
    rows: usize,
    number: usize,
    is_broken: bool,
}

/// One state and what was done there.
pub(crate) struct Row<'a> {
    pub observation: &'a [f32],
    pub action: &'a [f32],
    /// Looked at if the spec has rewards.
    pub reward: f32,
    /// Looked at if the spec has timestamps, in seconds.
    pub timestamp: f64,
}

impl<'a> Assembler<'a> {
    /// Tells the sink what comes.
    pub fn begin(path: &'a Path, sink: &'a mut dyn EpisodeSink, spec: &'a Spec) -> Result<Self, DataError> {
        sink.begin(spec)?;
        let episode = Episode { extras: vec![Vec::new(); spec.extras.len()], ..Episode::default() };
        Ok(Self { path, sink, spec, episode, rows: 0, number: 0, is_broken: false })
    }

    /// The rows of the present episode so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of the present episode.
    pub fn number(&self) -> usize {
        self.number
    }

    /// A state with its extra columns.
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
            let hint = "mark the end of each episode; an episode may take 1 GiB";
            return Err(DataError::malformed(self.path, problem, hint));
        }
        Ok(())
    }

    /// The state after the last row, for formats that store it apart. The last row's action then leads there.
    pub fn end_with(&mut self, observation: &[f32], ending: Ending) -> Result<(), DataError> {
        self.episode.observations.extend(observation);
        for (gathered, extra) in self.episode.extras.iter_mut().zip(&self.spec.extras) {
            // Extra columns have no row for it: the last one is repeated.
            let last = gathered.len() - extra.width..gathered.len();
            gathered.extend_from_within(last);
        }
        if let Some(&last) = self.episode.timestamps.last() {
            self.episode.timestamps.push(last);
        }
        self.rows += 1;
        self.close(ending)
    }

    /// The present episode is complete: its last row is its last state.
    pub fn end(&mut self, ending: Ending) -> Result<(), DataError> {
        if self.rows == 0 {
            return Ok(());
        }
        let steps = self.rows - 1;
        self.episode.actions.truncate(steps * self.spec.action.width);
        self.episode.rewards.truncate(if self.spec.has_rewards { steps } else { 0 });
        self.close(ending)
    }

    /// There are no more rows, and those of the present episode, if any, lack the mark of its end.
    pub fn end_unclosed(&mut self, hint: &str) -> Result<(), DataError> {
        if let Some(last) = self.rows.checked_sub(1) {
            let problem = format!("its {} rows are not closed", self.rows);
            self.defect(DefectKind::Ends, Some(last), problem, hint.into())?;
        }
        self.end(Ending::Unknown)
    }

    fn close(&mut self, ending: Ending) -> Result<(), DataError> {
        self.episode.ending = ending;
        if self.rows == 1 {
            let problem = "it has a single state and no transition".to_owned();
            let hint = "leave it out, or mark the end of the episode on its last row only";
            self.defect(DefectKind::Empty, Some(0), problem, hint.into())?;
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

    /// Tells the sink that the present episode has a defect. A sink that goes on is not given the episode.
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
