//! Sinks of episodes: readers push one episode at a time, so that no reader holds a dataset.

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

/// A sink that passes everything on and reports progress.
pub struct ProgressSink<'a> {
    /// Where everything goes.
    pub sink: &'a mut dyn EpisodeSink,
    /// Called with the number of steps of each episode.
    pub progress: &'a mut dyn FnMut(usize),
}

impl EpisodeSink for ProgressSink<'_> {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.sink.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        (self.progress)(episode.steps);
        self.sink.episode(episode)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        self.sink.defect(defect)
    }
}
