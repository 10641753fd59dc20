//! The second pass: every episode is compared with the summary.

use super::{
    Finding, Rule,
    Severity::{self, Error, Warning},
    Validation,
    fingerprint::{Fingerprints, Resemblance, WINDOW},
    jumps::JumpRule,
};
use crate::{DataError, DatasetSummary, Defect, EpisodeSink, EpisodeView, Feature, Hint, Remedy, Spec};

/// A gap between timestamps is irregular if it differs from the typical one by more than this
/// share.
const GAP_TOLERANCE: f64 = 0.5;
/// Without declared bounds, if this share of action values lies in [-1, 1], the others are
/// suspicious.
const TYPICAL_SHARE: f64 = 0.99;

pub(super) struct Checker<'a> {
    spec: &'a Spec,
    fingerprints: &'a Fingerprints,
    validation: Validation,
    number: usize,
    jump_rule: JumpRule,
    typical_gap_seconds: Option<f64>,
    /// Whether actions appear to be bounded by [-1, 1].
    actions_look_bounded: bool,
}

impl<'a> Checker<'a> {
    pub fn new(
        spec: &'a Spec,
        summary: &DatasetSummary,
        fingerprints: &'a Fingerprints,
        validation: Validation,
    ) -> Self {
        let numbers: u64 = summary.actions.iter().map(|summary| summary.count).sum();
        let share = 1.0 - summary.actions_beyond_one as f64 / numbers.max(1) as f64;
        Self {
            spec,
            fingerprints,
            validation,
            number: 0,
            jump_rule: JumpRule::new(summary),
            typical_gap_seconds: summary.typical_gap(),
            actions_look_bounded: spec.action.bounds.is_empty() && share >= TYPICAL_SHARE,
        }
    }

    /// Checks the rules that concern the entire dataset.
    pub fn check_dataset(&mut self, summary: &DatasetSummary) {
        if summary.n_episodes() == 0 {
            let problem = "there is no usable episode".to_owned();
            return self.report_dataset(Error, Rule::Empty, problem, "check that the path is correct");
        }
        let columns =
            [(&self.spec.observation, &summary.observations), (&self.spec.action, &summary.actions)];
        for (feature, summaries) in columns {
            for (index, summary) in summaries.iter().enumerate().filter(|(_, it)| it.is_constant()) {
                let problem = format!("{} is always {}", feature.dimension(index), summary.min);
                let hint = "remove it if it carries no information, or check for a disconnected sensor";
                self.report_dataset(Warning, Rule::Constant, problem, hint);
            }
        }
        if let Some((declared, found)) = summary.contradicted_rate() {
            let problem = format!(
                "the declared frame rate is {declared} per second, but that of the timestamps is {found:.2}"
            );
            let hint = Remedy::FrameRate.hint(|option| {
                format!(
                    "correct the metadata, or set the rate with {option}: distances in seconds depend on it"
                )
            });
            self.report_dataset(Error, Rule::FrameRate, problem, hint);
        }
        if !self.spec.has_timestamps {
            self.validation.unchecked.insert(Rule::FrameRate, "the data have no timestamps".into());
        }
        let still: Vec<String> = (0..self.spec.observation.width)
            .filter(|&index| self.jump_rule.leaves_out(index) && !summary.observations[index].is_constant())
            .map(|index| self.spec.observation.dimension(index))
            .collect();
        if !still.is_empty() {
            let why = format!("for dimensions at rest in nine of ten steps: {}", still.join(", "));
            self.validation.unchecked.insert(Rule::Jump, why);
        }
        if self.spec.action.bounds.is_empty() && !self.actions_look_bounded {
            let why = format!("the range of actions is unknown; set {}", Remedy::ActionBounds);
            self.validation.unchecked.insert(Rule::ActionRange, why);
        }
    }

    pub fn finish(self) -> Validation {
        self.validation.sorted()
    }

    fn report_dataset(&mut self, severity: Severity, rule: Rule, problem: String, hint: impl Into<Hint>) {
        let hint = hint.into();
        self.validation.add(Finding { rule, severity, episode: None, row: None, problem, hint });
    }

    fn report_row(
        &mut self,
        severity: Severity,
        rule: Rule,
        row: usize,
        problem: String,
        hint: impl Into<Hint>,
    ) {
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
                let hint = "remove the episode, or truncate it before this row";
                self.report_row(Error, Rule::NotFinite, row, problem, hint);
            }
        }
    }

    fn resemblance(&mut self, episode: &EpisodeView<'_>) {
        match self.fingerprints.compare(self.spec.observation.width, episode) {
            Some(Resemblance::Same(other)) => {
                let problem = format!("it is identical to episode {other}");
                let hint =
                    "remove one of them: it would count twice, and may leak from training into validation";
                self.report_row(Error, Rule::Duplicate, 0, problem, hint);
            }
            Some(Resemblance::Overlap { row, other }) => {
                let problem = format!(
                    "the {WINDOW} states from this row on are those that episode {other} begins with"
                );
                let hint = "split trajectories into episodes that do not share states";
                self.report_row(Warning, Rule::Overlap, row, problem, hint);
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
                    let show =
                        |bound: Option<f32>| bound.map_or("unbounded".into(), |bound| bound.to_string());
                    let (low, high) = (show(bounds.low), show(bounds.high));
                    let problem = format!("{name} is {}, outside {low} to {high}", action[index]);
                    let hint = "clip actions as the robot or simulator did, or correct the declared range";
                    self.report_row(Error, Rule::ActionRange, row, problem, hint);
                }
                None => {
                    let problem =
                        format!("{name} is {}, but nearly all actions are in [-1, 1]", action[index]);
                    let hint = Remedy::ActionBounds
                        .hint(|option| format!("clip it, or set the intended range with {option}"));
                    self.report_row(Warning, Rule::ActionRange, row, problem, hint);
                }
            }
        }
    }

    fn jumps(&mut self, episode: &EpisodeView<'_>) {
        let width = self.spec.observation.width;
        for jump in self.jump_rule.find(episode.observations) {
            let name = self.spec.observation.dimension(jump.dimension);
            let value = |row: usize| episode.observations[row * width + jump.dimension];
            let problem =
                format!("{name} goes from {} to {} in one step", value(jump.row), value(jump.row + 1));
            let hint = Remedy::Ends.hint(|option| {
                format!(
                    "teleporters do this; if the environment was reset here, end the episode at this row \
                     (D4RL: set {option} to either)"
                )
            });
            self.report_row(Warning, Rule::Jump, jump.row, problem, hint);
        }
    }

    fn times(&mut self, episode: &EpisodeView<'_>) {
        for (row, pair) in episode.timestamps.windows(2).enumerate() {
            let gap = pair[1] - pair[0];
            // NaN does not count as forward, either.
            if gap.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                let problem = format!("time goes from {} s to {} s", pair[0], pair[1]);
                let hint = "sort the rows by time, and give every episode its own identifier";
                self.report_row(Error, Rule::FrameRate, row, problem, hint);
            } else if let Some(typical) =
                self.typical_gap_seconds.filter(|typical| (gap - typical).abs() > GAP_TOLERANCE * typical)
            {
                let problem =
                    format!("the next state follows after {gap:.4} s, but {typical:.4} s are typical");
                let hint = "frames were dropped: split the episode here, or fill the gap; \
                            steps only measure time if they are evenly spaced";
                self.report_row(Warning, Rule::FrameRate, row, problem, hint);
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

    /// Ignores the defect, since the first pass has recorded it.
    fn defect(&mut self, _: Defect) -> Result<(), DataError> {
        Ok(())
    }
}
