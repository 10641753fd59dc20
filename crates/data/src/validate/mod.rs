//! What bites people, found before training.
//!
//! Two passes over a data set: a [`Survey`] learns what is usual, then every episode is compared with it. Each [`Finding`] says the episode,
//! the row, and what to do. An error means that training on the data would be wrong; a warning, that a person should look.

mod check;
mod finding;
mod fingerprint;

pub use finding::{Finding, Rule, Severity, Validation};

use crate::{
    DataError, Defect, EpisodeSink, EpisodeView, Spec, Survey, Telling,
    formats::{Format, ReadOptions},
};
use check::Checker;
use fingerprint::Fingerprints;
use std::path::Path;

/// Looks at a whole file, twice.
pub fn validate(path: &Path, format: Format, options: &ReadOptions) -> Result<Validation, DataError> {
    validate_and_tell(path, format, options, &mut |_| {})
}

/// The same, and tells after each episode how many steps it had; every episode comes twice.
pub fn validate_and_tell(
    path: &Path,
    format: Format,
    options: &ReadOptions,
    tell: &mut dyn FnMut(usize),
) -> Result<Validation, DataError> {
    let mut first = FirstPass::default();
    format.read(path, options, &mut Telling { sink: &mut first, tell })?;
    let FirstPass { survey, fingerprints, validation } = first;
    let Some(spec) = survey.spec.clone() else { return Ok(validation.into_validation()) };
    let mut checker = Checker::new(&spec, &survey, &fingerprints, validation);
    checker.whole_set(&survey);
    format.read(path, options, &mut Telling { sink: &mut checker, tell })?;
    Ok(checker.finish())
}

/// Learns what is usual, and takes note of what the reader itself complains about.
#[derive(Default)]
struct FirstPass {
    survey: Survey,
    fingerprints: Fingerprints,
    validation: finding::Collector,
}

impl EpisodeSink for FirstPass {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.survey.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let width = self.survey.spec.as_ref().map_or(0, |spec| spec.observation.width);
        self.fingerprints.learn(width, episode);
        self.survey.episode(episode)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        self.validation.add(Finding::from_defect(defect));
        Ok(())
    }
}
