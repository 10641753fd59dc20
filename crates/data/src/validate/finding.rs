//! Findings: what is wrong, where, and what to do about it.

use crate::{Defect, DefectKind, Hint};
use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum number of findings kept for each rule and severity, so that memory is bounded; the
/// rest are only counted.
const MAX_KEPT: u64 = 100_000;

named_enum! {
    /// The rules that a dataset is checked against.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Rule, pub fn name {
        /// The lengths of columns are consistent: T actions between T + 1 states.
        Lengths = "lengths",
        /// The end of every episode is marked once: terminals against timeouts.
        Ends = "ends",
        /// Every episode has a transition.
        Empty = "empty",
        /// Frames are complete and in order.
        Frames = "frames",
        /// Every number is finite.
        NotFinite = "not-finite",
        /// Every dimension of an observation or action varies.
        Constant = "constant",
        /// No episode occurs twice.
        Duplicate = "duplicate",
        /// No episode starts inside another one.
        Overlap = "overlap",
        /// Actions are within their range.
        ActionRange = "action-range",
        /// States follow one another without jumps.
        Jump = "jump",
        /// Time runs forward at its typical rate.
        FrameRate = "frame-rate",
        /// The contents match the checksum of the file.
        ContentHash = "content-hash",
    }
}

named_enum! {
    /// The severity of a finding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity, pub fn name {
        /// Training on the data would be wrong.
        Error = "error",
        /// The data should be inspected.
        Warning = "warning",
    }
}

/// A problem that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that is violated.
    pub rule: Rule,
    /// The severity of the finding.
    pub severity: Severity,
    /// The episode, counted from 0; `None` if the finding concerns the entire dataset.
    pub episode: Option<usize>,
    /// The row of the episode.
    pub row: Option<usize>,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub hint: Hint,
}

impl Finding {
    pub(super) fn from_defect(defect: Defect) -> Self {
        let rule = match defect.kind {
            DefectKind::Lengths => Rule::Lengths,
            DefectKind::Ends => Rule::Ends,
            DefectKind::Empty => Rule::Empty,
            DefectKind::Frames => Rule::Frames,
            DefectKind::Corrupt => Rule::ContentHash,
        };
        let Defect { episode, row, problem, hint, .. } = defect;
        Self { rule, severity: Severity::Error, episode, row, problem, hint }
    }
}

/// The result of validating a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Validation {
    /// All findings, in the order of the data; of each rule and severity, at most 100,000.
    pub findings: Vec<Finding>,
    /// The number of findings of each rule, by severity.
    pub counts: BTreeMap<Rule, BTreeMap<Severity, u64>>,
    /// The rules that could not be checked, with the reason.
    pub unchecked: BTreeMap<Rule, String>,
}

impl Validation {
    /// Returns the number of findings of a severity.
    pub fn count(&self, severity: Severity) -> u64 {
        self.counts.values().filter_map(|counts| counts.get(&severity)).sum()
    }

    /// Returns whether every finding is kept.
    pub fn is_complete(&self) -> bool {
        let total: u64 = self.counts.values().flat_map(BTreeMap::values).sum();
        total == self.findings.len() as u64
    }

    /// Returns the number of findings of a rule.
    pub fn count_of(&self, rule: Rule) -> u64 {
        self.counts.get(&rule).map_or(0, |counts| counts.values().sum())
    }

    /// Counts a finding, and keeps it unless there are already many of its kind.
    pub(super) fn add(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.rule).or_default().entry(finding.severity).or_default();
        *count += 1;
        if *count <= MAX_KEPT {
            self.findings.push(finding);
        }
    }

    /// Sorts the findings by severity and rule, and those of one rule in the order of the data.
    pub(super) fn sorted(mut self) -> Self {
        self.findings.sort_by_key(|finding| (finding.severity, finding.rule));
        self
    }
}
