//! A sink that accepts everything.

use isochrone_data::{DataError, DatasetSummary, Defect, EpisodeSink, EpisodeView, Spec};

/// Accepts everything, as a validator does, and holds a summary.
#[derive(Default)]
pub struct Drain(DatasetSummary);

impl EpisodeSink for Drain {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.0.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        assert!(episode.steps > 0 && episode.observations.len().is_multiple_of(episode.steps + 1));
        self.0.episode(episode)
    }

    fn defect(&mut self, _: Defect) -> Result<(), DataError> {
        Ok(())
    }
}
