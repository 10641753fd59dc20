//! Adds annotations of the metadata to the episodes.

use super::subtasks::{self, Subtasks};
use crate::{DataError, Defect, EpisodeSink, EpisodeView, Feature, Spec};

/// Forwards episodes with additional extra columns.
pub(super) struct Annotate<'a> {
    sink: &'a mut dyn EpisodeSink,
    /// The spec with the additional columns.
    pub spec: Spec,
    subtasks: Option<Subtasks>,
}

impl<'a> Annotate<'a> {
    /// Adds nothing to episodes of this spec.
    pub fn new(sink: &'a mut dyn EpisodeSink, spec: &Spec) -> Self {
        Self { sink, spec: spec.clone(), subtasks: None }
    }

    /// Adds a column with the subtask of each frame, unless there are none, or there is such a
    /// column.
    pub fn add_subtasks(&mut self, subtasks: Subtasks) {
        let has_column = self.spec.extras.iter().any(|extra| extra.name == subtasks::COLUMN);
        if !subtasks.names.is_empty() && !has_column {
            self.spec.extras.push(Feature::new(subtasks::COLUMN, 1));
            self.spec.subtasks.clone_from(&subtasks.names);
            self.subtasks = Some(subtasks);
        }
    }
}

impl EpisodeSink for Annotate<'_> {
    fn begin(&mut self, _: &Spec) -> Result<(), DataError> {
        self.sink.begin(&self.spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let Some(subtasks) = &self.subtasks else { return self.sink.episode(episode) };
        let numbers = subtasks.of_frames(episode.number, episode.steps + 1);
        let mut annotated = episode.clone();
        annotated.extras.push(&numbers);
        self.sink.episode(&annotated)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        self.sink.defect(defect)
    }
}
