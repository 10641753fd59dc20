//! Defects of demonstrations: one finding per cause, ranked.
//!
//! Thresholds were set once, on one generated dataset; `docs/results/robots` has the findings on
//! others.

mod motion;
mod sensor;
mod steadiness;

use super::{
    Demos, Progress, connections::ConnectionGraph, displacement::Frames, duplicates, ends::EndComparison,
    finding::Finding,
};
use motion::Motion;

/// The findings of all episodes.
pub struct Diagnosis {
    /// One for each episode.
    pub episodes: Vec<EpisodeDiagnosis>,
}

/// The findings of an episode.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EpisodeDiagnosis {
    /// The number of the episode.
    pub episode: usize,
    /// The number of its frames.
    pub frames: usize,
    /// The name of its task.
    pub task: String,
    /// Whether it is labeled a success.
    pub success: Option<bool>,
    /// The largest score of the findings; 0 without any.
    pub score: f64,
    /// The findings, the cause of others first.
    pub findings: Vec<Finding>,
    /// Why the episode should be kept in spite of its findings.
    pub keep: Option<String>,
}

impl Diagnosis {
    /// Returns the episodes with findings, the worst first.
    pub fn ranked(&self) -> Vec<&EpisodeDiagnosis> {
        let mut found: Vec<_> = self.episodes.iter().filter(|episode| !episode.findings.is_empty()).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.episode.cmp(&b.episode)));
        found
    }
}

/// Finds the defects of demonstrations, and marks the episodes to keep nevertheless.
pub fn diagnose(demos: &Demos<'_>, progress: &Progress) -> Diagnosis {
    let mut diagnosis = examine(demos, progress);
    keep_only_connections(demos, &mut diagnosis.episodes);
    diagnosis
}

/// Finds the defects of demonstrations, without a decision on which episodes to keep.
pub fn examine(demos: &Demos<'_>, progress: &Progress) -> Diagnosis {
    let frames = Frames::of(demos);
    let motion = Motion::fit(demos, frames);
    let sensors = sensor::frozen(demos, frames);
    let copies = duplicates::find(demos, frames);
    let ends = demos.map_episodes(|episode| EndComparison::of(demos, episode));
    let of_episode = |episode: usize| {
        let mut found: Vec<Finding> = Vec::new();
        found.extend(copies[episode].clone());
        found.extend(sensors[episode].iter().cloned());
        found.extend(motion.jumps(demos, episode));
        found.extend(ends[episode].as_ref().and_then(|end| end.finding(demos, episode)));
        found.extend(steadiness::reversed(progress, episode));
        found.extend(motion.pace(demos, episode));
        let stalls = motion.stalls(demos, episode);
        found.extend(motion.lap(demos, episode, &stalls));
        found.extend(stalls);
        found.extend(steadiness::detour(progress, episode, frames));
        let labels = &demos.labels;
        EpisodeDiagnosis {
            episode,
            frames: demos.data.index().steps(episode) + 1,
            task: labels.tasks[labels.task[episode] as usize].clone(),
            success: labels.success[episode],
            ..EpisodeDiagnosis::of_findings(found)
        }
    };
    Diagnosis { episodes: demos.map_episodes(of_episode) }
}

/// Marks the episodes to keep: those whose deletion is suggested, and would disconnect the data.
fn keep_only_connections(demos: &Demos<'_>, episodes: &mut [EpisodeDiagnosis]) {
    let is_deleted = |one: &&EpisodeDiagnosis| one.suggests_deletion();
    let deleted: Vec<usize> = episodes.iter().filter(is_deleted).map(|one| one.episode).collect();
    if deleted.is_empty() {
        return;
    }
    let graph = ConnectionGraph::of(demos, &|episode| episodes[episode].findings.as_slice());
    let connected_frames = graph.connected_frames(demos);
    let lost = graph.only_connected_by(demos, &deleted, connected_frames);
    let task = |task: u32| &demos.labels.tasks[task as usize];
    for (episode, pairs) in deleted.into_iter().zip(lost) {
        if let Some((from, to)) = pairs.first() {
            let path =
                format!("the only path from starts of '{}' to the end of '{}'", task(*from), task(*to));
            episodes[episode].keep = Some(path);
        }
    }
}

impl EpisodeDiagnosis {
    /// Returns whether deleting the episode is the remedy of a finding. A failure that is labeled
    /// so is not deleted.
    pub fn suggests_deletion(&self) -> bool {
        self.findings.iter().any(|finding| finding.score >= 1.0 && finding.rule.suggests_deletion())
    }

    /// Keeps one finding per cause: a finding about a whole episode explains all that follow it in
    /// the order of rules, one about a segment explains those that overlap it.
    fn of_findings(mut found: Vec<Finding>) -> Self {
        found.sort_by(|a, b| a.rule.cmp(&b.rule).then(a.first_frame.cmp(&b.first_frame)));
        let mut findings: Vec<Finding> = Vec::new();
        for finding in found {
            let is_explained = |cause: &Finding| {
                cause.rule.is_of_whole_episode()
                    || (cause.first_frame < finding.end_frame && finding.first_frame < cause.end_frame)
            };
            if !findings.iter().any(is_explained) {
                findings.push(finding);
            }
        }
        let score = findings.iter().map(|finding| finding.score).fold(0.0, f64::max);
        Self { episode: 0, frames: 0, task: String::new(), success: None, score, findings, keep: None }
    }
}
