//! Where episodes go: readers push, one episode at a time, so that no reader holds a data set.

use crate::{DataError, Defect, EpisodeView, Spec};

/// Takes episodes in order.
pub trait EpisodeSink {
    /// What the episodes look like; called once, before the first.
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError>;

    /// The next episode.
    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError>;

    /// An episode that could not be put together. By default, an error.
    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        Err(defect.into())
    }
}

/// Passes everything on, and tells after each episode how many steps it had.
pub struct Telling<'a> {
    /// Where everything goes.
    pub sink: &'a mut dyn EpisodeSink,
    /// Who is told.
    pub tell: &'a mut dyn FnMut(usize),
}

impl EpisodeSink for Telling<'_> {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.sink.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        (self.tell)(episode.steps);
        self.sink.episode(episode)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        self.sink.defect(defect)
    }
}
