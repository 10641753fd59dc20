//! What was found, where, and what to do about it.

use crate::{Defect, DefectKind, Hint};
use serde::Serialize;
use std::collections::BTreeMap;

/// Findings kept for each rule; the rest are counted.
const MAX_KEPT: usize = 20;

named_enum! {
    /// What a dataset is checked for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Rule, pub fn name {
        /// Columns fit each other: T actions between T + 1 states.
        Lengths = "lengths",
        /// The ends of episodes are marked, once each: terminals against timeouts.
        Ends = "ends",
        /// Every episode has a transition.
        Empty = "empty",
        /// Frames are complete and in order.
        Frames = "frames",
        /// Every number is finite.
        NotFinite = "not-finite",
        /// Every dimension of an observation or action varies.
        Constant = "constant",
        /// No episode is there twice.
        Duplicate = "duplicate",
        /// No episode begins inside another.
        Overlap = "overlap",
        /// Actions are inside their range.
        ActionRange = "action-range",
        /// States follow one another without jumps.
        Jump = "jump",
        /// Time runs forward at its typical rate.
        FrameRate = "frame-rate",
        /// The contents are those that the file was written with.
        ContentHash = "content-hash",
    }
}

named_enum! {
    /// How bad it is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity, pub fn name {
        /// Training on it would be wrong.
        Error = "error",
        /// A person should look.
        Warning = "warning",
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which rule it breaks.
    pub rule: Rule,
    /// How bad it is.
    pub severity: Severity,
    /// The episode, counted from 0; none if it is about the whole dataset.
    pub episode: Option<usize>,
    /// The row inside the episode.
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

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Validation {
    /// Up to twenty findings of each rule, in the order of the data.
    pub findings: Vec<Finding>,
    /// How many there are of each rule, by severity.
    pub counts: BTreeMap<Rule, BTreeMap<Severity, u64>>,
    /// Rules that could not be checked, and why.
    pub unchecked: BTreeMap<Rule, String>,
}

impl Validation {
    /// How many findings of this severity there are.
    pub fn count(&self, severity: Severity) -> u64 {
        self.counts.values().filter_map(|counts| counts.get(&severity)).sum()
    }

    /// How many findings of a rule there are.
    pub fn count_of(&self, rule: Rule) -> u64 {
        self.counts.get(&rule).map_or(0, |counts| counts.values().sum())
    }

    /// Counts a finding, and keeps it unless there are many of its kind.
    pub(super) fn add(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.rule).or_default().entry(finding.severity).or_default();
        *count += 1;
        if *count <= MAX_KEPT as u64 {
            self.findings.push(finding);
        }
    }

    /// The findings by rule, those of one rule in the order of the data.
    pub(super) fn sorted(mut self) -> Self {
        self.findings.sort_by_key(|finding| (finding.severity, finding.rule));
        self
    }
}
