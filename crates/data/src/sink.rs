//! Sinks of episodes: readers push one episode at a time, so that no reader holds an entire
//! dataset.

use crate::{DataError, Defect, EpisodeView, Spec};

/// A sink that receives episodes in order.
pub trait EpisodeSink {
    /// Receives the spec of the episodes. It is called once, before the first episode.
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError>;

    /// Receives the next episode.
    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError>;

    /// Receives a defect, such as an episode that could not be assembled. By default, this is an
    /// error.
    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        Err(defect.into())
    }
}

/// A sink that forwards everything to another sink and reports progress.
pub struct ProgressSink<'a> {
    /// The sink that receives everything.
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
