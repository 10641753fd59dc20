//! Common dataset problems, found before training.
//!
//! Validation takes two passes over a dataset: the first computes a [`DatasetSummary`], the second
//! compares every episode with it. Each [`Finding`] names the episode, the row, and what to do. An
//! error means that training on the data would be wrong; a warning means that the data should be
//! inspected.

mod check;
mod finding;
mod fingerprint;
mod jumps;

pub use finding::{Finding, Rule, Severity, Validation};

use crate::{
    DataError, DatasetSummary, Defect, EpisodeSink, EpisodeView, ProgressSink, Spec,
    formats::{Format, ReadOptions},
};
use check::Checker;
use fingerprint::Fingerprints;
use std::path::Path;

/// Validates a file in two passes.
pub fn validate(path: &Path, format: Format, options: &ReadOptions) -> Result<Validation, DataError> {
    validate_with_progress(path, format, options, &mut |_| {})
}

/// As [`validate`], with a callback that receives the number of steps of each episode; every
/// episode is read twice.
pub fn validate_with_progress(
    path: &Path,
    format: Format,
    options: &ReadOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<Validation, DataError> {
    let mut first = FirstPass::default();
    format.read(path, options, &mut ProgressSink { sink: &mut first, progress })?;
    let FirstPass { summary, fingerprints, validation } = first;
    let Some(spec) = summary.spec.clone() else { return Ok(validation.sorted()) };
    let mut checker = Checker::new(&spec, &summary, &fingerprints, validation);
    checker.check_dataset(&summary);
    format.read(path, options, &mut ProgressSink { sink: &mut checker, progress })?;
    Ok(checker.finish())
}

/// Computes the summary, and collects the defects that the reader detects.
#[derive(Default)]
struct FirstPass {
    summary: DatasetSummary,
    fingerprints: Fingerprints,
    validation: Validation,
}

impl EpisodeSink for FirstPass {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.summary.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let width = self.summary.spec.as_ref().map_or(0, |spec| spec.observation.width);
        self.fingerprints.add(width, episode);
        self.summary.episode(episode)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        self.validation.add(Finding::from_defect(defect));
        Ok(())
    }
}
