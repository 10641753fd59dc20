//! The second pass: every episode is compared with the summary.

use super::{
    Finding, Rule,
    Severity::{self, Error, Warning},
    Validation,
    fingerprint::{Fingerprints, Resemblance, WINDOW},
};
use crate::{DataError, DatasetSummary, Defect, EpisodeSink, EpisodeView, Feature, Hint, Remedy, Spec};

/// A step is a jump if it is this many times as long as nine steps in ten...
const JUMP_FACTOR: f64 = 10.0;
/// ...and at least this share of the dimension's whole range.
const JUMP_RANGE_SHARE: f64 = 0.05;
/// A gap in time is one that differs from the typical one by this share.
const GAP_TOLERANCE: f64 = 0.5;
/// Without declared bounds: if this share of actions lies in [-1, 1], the others are suspicious.
const USUAL_SHARE: f64 = 0.99;

pub(super) struct Checker<'a> {
    spec: &'a Spec,
    fingerprints: &'a Fingerprints,
    validation: Validation,
    number: usize,
    /// For each dimension of an observation, the length from which a step is a jump; infinite if it has none.
    jump: Vec<f32>,
    typical_gap_seconds: Option<f64>,
    /// Whether actions look as if they were meant for [-1, 1].
    actions_look_bounded: bool,
}

impl<'a> Checker<'a> {
    pub fn new(
        spec: &'a Spec,
        summary: &DatasetSummary,
        fingerprints: &'a Fingerprints,
        validation: Validation,
    ) -> Self {
        let jump = summary.moves.iter().zip(&summary.observations).map(|(moves, summary)| {
            let least = JUMP_RANGE_SHARE * f64::from(summary.max - summary.min);
            moves.quantile(0.9).map_or(f32::INFINITY, |usual| (JUMP_FACTOR * usual).max(least) as f32)
        });
        let numbers: u64 = summary.actions.iter().map(|summary| summary.count).sum();
        let share = 1.0 - summary.actions_beyond_one as f64 / numbers.max(1) as f64;
        Self {
            spec,
            fingerprints,
            validation,
            number: 0,
            jump: jump.collect(),
            typical_gap_seconds: summary.typical_gap(),
            actions_look_bounded: spec.action.bounds.is_empty() && share >= USUAL_SHARE,
        }
    }

    /// What concerns the dataset as a whole.
    pub fn whole_set(&mut self, summary: &DatasetSummary) {
        if summary.n_episodes() == 0 {
            let problem = "there is no episode that could be used".to_owned();
            return self.overall(Error, Rule::Empty, problem, "check that the right file was named");
        }
        let columns =
            [(&self.spec.observation, &summary.observations), (&self.spec.action, &summary.actions)];
        for (feature, summaries) in columns {
            for (index, summary) in summaries.iter().enumerate().filter(|(_, it)| it.is_constant()) {
                let problem = format!("{} is always {}", feature.dimension(index), summary.min);
                let hint = "leave it out if it says nothing, or look for a sensor that was not connected";
                self.overall(Warning, Rule::Constant, problem, hint);
            }
        }
        if let Some((declared, found)) = summary.contradicted_rate() {
            let problem =
                format!("the declared frame rate is {declared} per second, the timestamps have {found:.2}");
            let hint = Remedy::FrameRate.hint(|option| {
                format!(
                    "correct the metadata, or give the rate with {option}: distances in seconds depend on it"
                )
            });
            self.overall(Error, Rule::FrameRate, problem, hint);
        }
        if !self.spec.has_timestamps {
            self.validation.unchecked.insert(Rule::FrameRate, "the data have no timestamps".into());
        }
        let still: Vec<String> = (0..self.jump.len())
            .filter(|&index| self.jump[index].is_infinite() && !summary.observations[index].is_constant())
            .map(|index| self.spec.observation.dimension(index))
            .collect();
        if !still.is_empty() {
            let why = format!("not for {}, at rest in nine steps of ten", still.join(", "));
            self.validation.unchecked.insert(Rule::Jump, why);
        }
        if self.spec.action.bounds.is_empty() && !self.actions_look_bounded {
            let why = format!("the range of actions is not known; give {}", Remedy::ActionBounds);
            self.validation.unchecked.insert(Rule::ActionRange, why);
        }
    }

    pub fn finish(self) -> Validation {
        self.validation.sorted()
    }

    fn overall(&mut self, severity: Severity, rule: Rule, problem: String, hint: impl Into<Hint>) {
        let hint = hint.into();
        self.validation.add(Finding { rule, severity, episode: None, row: None, problem, hint });
    }

    fn here(&mut self, severity: Severity, rule: Rule, row: usize, problem: String, hint: impl Into<Hint>) {
        let (episode, row, hint) = (Some(self.number), Some(row), hint.into());
        self.validation.add(Finding { rule, severity, episode, row, problem, hint });
    }

    fn finite(&mut self, feature: &Feature, rows: &[f32]) {
        if feature.width == 0 || rows.iter().all(|value| value.is_finite()) {
            return;
        }
        for (row, values) in rows.chunks_exact(feature.width).enumerate() {
            if let Some(index) = values.iter().position(|value| !value.is_finite()) {
                let problem = format!("{} is {}", feature.dimension(index), values[index]);
                let hint = "leave the episode out, or cut it before this row";
                self.here(Error, Rule::NotFinite, row, problem, hint);
            }
        }
    }

    fn resemblance(&mut self, episode: &EpisodeView<'_>) {
        match self.fingerprints.compare(self.spec.observation.width, episode) {
            Some(Resemblance::Same(other)) => {
                let problem = format!("it is the same as episode {other}");
                let hint =
                    "leave one of them out: it would count twice, and may leak from training into validation";
                self.here(Error, Rule::Duplicate, 0, problem, hint);
            }
            Some(Resemblance::Overlap { row, other }) => {
                let problem =
                    format!("{WINDOW} states from here on are those that episode {other} begins with");
                let hint = "split trajectories into episodes that do not share states";
                self.here(Warning, Rule::Overlap, row, problem, hint);
            }
            None => {}
        }
    }

    fn actions(&mut self, episode: &EpisodeView<'_>) {
        let feature = &self.spec.action;
        if feature.width == 0 || (feature.bounds.is_empty() && !self.actions_look_bounded) {
            return;
        }
        for (row, action) in episode.actions.chunks_exact(feature.width).enumerate() {
            let is_inside = |index: usize| match feature.bounds.get(index) {
                Some(bounds) => bounds.contain(action[index]),
                None => action[index].abs() <= 1.0,
            };
            let is_wrong = |&index: &usize| action[index].is_finite() && !is_inside(index);
            let Some(index) = (0..feature.width).find(is_wrong) else { continue };
            let name = feature.dimension(index);
            match feature.bounds.get(index) {
                Some(bounds) => {
                    let show = |bound: Option<f32>| bound.map_or("open".into(), |bound| bound.to_string());
                    let (low, high) = (show(bounds.low), show(bounds.high));
                    let problem = format!("{name} is {}, outside {low} to {high}", action[index]);
                    let hint = "clip actions as the robot or simulator did, or correct the declared range";
                    self.here(Error, Rule::ActionRange, row, problem, hint);
                }
                None => {
                    let problem =
                        format!("{name} is {}, where nearly all actions are in -1 to 1", action[index]);
                    let hint = Remedy::ActionBounds
                        .hint(|option| format!("clip it, or say which range is meant with {option}"));
                    self.here(Warning, Rule::ActionRange, row, problem, hint);
                }
            }
        }
    }

    fn jumps(&mut self, episode: &EpisodeView<'_>) {
        let width = self.spec.observation.width;
        let before = episode.observations.chunks_exact(width);
        let after = episode.observations[width..].chunks_exact(width);
        for (row, (before, after)) in before.zip(after).enumerate() {
            let jumps = |&index: &usize| (after[index] - before[index]).abs() > self.jump[index];
            if let Some(index) = (0..width).find(jumps) {
                let name = self.spec.observation.dimension(index);
                let problem = format!("{name} goes from {} to {} in one step", before[index], after[index]);
                let hint = Remedy::Ends.hint(|option| {
                    format!("teleporters do this; if the environment was reset here, end the episode at this row (D4RL: set {option} to either)")
                });
                self.here(Warning, Rule::Jump, row, problem, hint);
            }
        }
    }

    fn times(&mut self, episode: &EpisodeView<'_>) {
        for (row, pair) in episode.timestamps.windows(2).enumerate() {
            let gap = pair[1] - pair[0];
            // A time that is not a number is not forward either.
            if gap.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                let problem = format!("time goes from {} s to {} s", pair[0], pair[1]);
                let hint = "sort the rows by time, and give every episode its own number";
                self.here(Error, Rule::FrameRate, row, problem, hint);
            } else if let Some(usual) =
                self.typical_gap_seconds.filter(|usual| (gap - usual).abs() > GAP_TOLERANCE * usual)
            {
                let problem = format!("{gap:.4} s pass to the next state, where {usual:.4} s are typical");
                let hint = "frames were dropped: cut the episode here, or fill the gap; steps are only time if they are even";
                self.here(Warning, Rule::FrameRate, row, problem, hint);
            }
        }
    }
}

impl EpisodeSink for Checker<'_> {
    fn begin(&mut self, _: &Spec) -> Result<(), DataError> {
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let spec = self.spec;
        self.number = episode.number;
        self.finite(&spec.observation, episode.observations);
        self.finite(&spec.action, episode.actions);
        self.finite(&Feature::new("reward", 1), episode.rewards);
        for (extra, rows) in spec.extras.iter().zip(&episode.extras) {
            self.finite(extra, rows);
        }
        self.resemblance(episode);
        self.actions(episode);
        self.jumps(episode);
        self.times(episode);
        Ok(())
    }

    /// The first pass took note of it.
    fn defect(&mut self, _: Defect) -> Result<(), DataError> {
        Ok(())
    }
}
