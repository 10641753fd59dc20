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

/// Gives every episode to two sinks.
pub struct Tee<'a>(pub &'a mut dyn EpisodeSink, pub &'a mut dyn EpisodeSink);

impl EpisodeSink for Tee<'_> {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.0.begin(spec)?;
        self.1.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        self.0.episode(episode)?;
        self.1.episode(episode)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        self.0.defect(defect.clone())?;
        self.1.defect(defect)
    }
}
