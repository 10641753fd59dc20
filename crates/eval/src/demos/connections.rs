//! The graph of connections: frames, and the hops between episodes.
//!
//! Following an episode is free, and a hop between episodes costs its length in frames
//! (`local_metric.rs`). A start is connected with a task if the largest hop of the best path is not
//! larger than those of demonstrations that are left out themselves.

use super::{
    Demos,
    displacement::Frames,
    finding::{Finding, Rule},
    local_metric,
    minimax::Minimax,
    nodes::{FrameId, Nodes},
};
use isochrone_core::statistics::quantile;
use rayon::prelude::*;

/// Findings that make an episode useless for connections: it did not happen as it was recorded.
const UNUSABLE: [Rule; 5] = [Rule::Frozen, Rule::Spike, Rule::Jump, Rule::Task, Rule::Reversed];
/// The number of demonstrations that are left out, to measure what connected data read.
const LEFT_OUT: usize = 40;
/// The quantile of their largest hops, and the multiple of it that still counts as connected.
const CONNECTED_QUANTILE: f64 = 0.75;
const CONNECTED_TIMES: f64 = 1.25;
/// Tasks with fewer successes have no connections to measure.
const MIN_SUCCESSES: usize = 2;

/// Whether the starts of one task are connected with the ends of another.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Connection {
    /// The task of the starts.
    pub from_task: String,
    /// The task of the ends.
    pub to_task: String,
    /// The number of starts.
    pub starts: usize,
    /// The number of starts that are connected with the ends.
    pub connected: usize,
    /// The median of the largest hops, in frames.
    pub largest_hop_frames: f64,
}

/// A motion that no episode has, and that would connect the data.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Bridge {
    /// Where it begins.
    pub from: FrameId,
    /// Where it ends.
    pub to: FrameId,
    /// Its length in frames of recorded motion.
    pub steps: f64,
    /// The number of pairs of a start and a task that it connects.
    pub pairs: usize,
    /// The observation where it begins.
    pub values_from: Vec<f32>,
    /// The observation where it ends.
    pub values_to: Vec<f32>,
}

/// Returns whether an episode is of no use for connections.
pub(super) fn is_unusable(findings: &[Finding]) -> bool {
    has(findings, &UNUSABLE)
}

fn has(findings: &[Finding], rules: &[Rule]) -> bool {
    findings.iter().any(|finding| rules.contains(&finding.rule))
}

/// Frames and the hops between them.
pub(super) struct ConnectionGraph {
    nodes: Nodes,
    /// In frames, `[to, from]`.
    hops: Vec<f32>,
    /// Whether each episode ends in a success of its task.
    is_success: Vec<bool>,
}

impl ConnectionGraph {
    /// Creates the graph of all episodes without findings that rule them out.
    pub fn of<'f>(demos: &Demos<'_>, findings: &dyn Fn(usize) -> &'f [Finding]) -> Self {
        let nodes = Nodes::of(demos, &|episode| !has(findings(episode), &UNUSABLE));
        let hops = local_metric::hops(demos, &nodes, Frames::of(demos));
        let is_success =
            |episode: usize| demos.counts_as_success(episode) && !has(findings(episode), &[Rule::End]);
        let is_success = (0..demos.data.n_episodes()).map(is_success).collect();
        Self { nodes, hops, is_success }
    }

    /// Returns the last nodes of successes of a task.
    fn goals(&self, demos: &Demos<'_>, task: u32) -> Vec<usize> {
        let is_goal = |node: &usize| {
            let episode = self.nodes.episode(*node);
            demos.labels.task[episode] == task && self.is_success[episode]
        };
        self.nodes.ends().into_iter().filter(is_goal).collect()
    }

    fn search(&self, is_allowed: &dyn Fn(usize) -> bool, goals: &[usize]) -> Minimax {
        Minimax::to_goals(&self.hops, &|node| self.nodes.is_followed(node), is_allowed, goals)
    }

    /// Returns the largest hop of connected data: that of successes that are left out
    /// themselves.
    pub fn connected_frames(&self, demos: &Demos<'_>) -> f64 {
        let starts = self.nodes.starts();
        let is_success = |start: &&usize| self.is_success[self.nodes.episode(**start)];
        let successes: Vec<usize> = starts.iter().filter(is_success).copied().collect();
        let every = successes.len().div_ceil(LEFT_OUT).max(1);
        let chosen: Vec<usize> = successes.into_iter().step_by(every).collect();
        let left_out = |start: &usize| {
            let own = self.nodes.episode(*start);
            let goals: Vec<usize> = self.goals(demos, demos.labels.task[own]);
            let others: Vec<usize> =
                goals.into_iter().filter(|goal| self.nodes.episode(*goal) != own).collect();
            if others.len() + 1 < MIN_SUCCESSES {
                return f64::NAN;
            }
            // Its first frame only: the next one is not allowed, so that it cannot be followed.
            let is_allowed = |node: usize| node == *start || self.nodes.episode(node) != own;
            f64::from(self.search(&is_allowed, &others).bottleneck[*start])
        };
        let hops: Vec<f64> = chosen.par_iter().map(left_out).collect();
        let typical = quantile(hops.into_iter().filter(|hop| !hop.is_nan()).collect(), CONNECTED_QUANTILE);
        CONNECTED_TIMES * if typical.is_finite() { typical } else { self.nodes.stride as f64 }
    }

    pub fn connections(&self, demos: &Demos<'_>, connected_frames: f64) -> Vec<Connection> {
        let tasks = 0..demos.labels.tasks.len() as u32;
        let starts = self.nodes.starts();
        let to_task = |to: u32| {
            let goals = self.goals(demos, to);
            if goals.is_empty() {
                return Vec::new();
            }
            let found = self.search(&|_| true, &goals);
            let from_task = |from: u32| {
                let own =
                    starts.iter().filter(|start| demos.labels.task[self.nodes.episode(**start)] == from);
                let hops: Vec<f64> = own.map(|start| f64::from(found.bottleneck[*start])).collect();
                (!hops.is_empty()).then(|| Connection {
                    from_task: demos.labels.tasks[from as usize].clone(),
                    to_task: demos.labels.tasks[to as usize].clone(),
                    starts: hops.len(),
                    connected: hops.iter().filter(|hop| **hop <= connected_frames).count(),
                    largest_hop_frames: quantile(hops, 0.5),
                })
            };
            tasks.clone().filter_map(from_task).collect()
        };
        tasks.clone().into_par_iter().flat_map_iter(to_task).collect()
    }

    /// Returns the hop that most pairs of a start and a task need, and makes it free.
    pub fn best_bridge(&mut self, demos: &Demos<'_>, connected_frames: f64) -> Option<Bridge> {
        let starts = self.nodes.starts();
        let of_task = |task: u32| {
            let goals = self.goals(demos, task);
            let found = self.search(&|_| true, &goals);
            let far = starts.iter().filter(|start| f64::from(found.bottleneck[**start]) > connected_frames);
            let is_followed = |node: usize| self.nodes.is_followed(node);
            far.filter_map(|start| found.largest_hop(&self.hops, &is_followed, *start)).collect::<Vec<_>>()
        };
        let tasks = 0..demos.labels.tasks.len() as u32;
        let mut needed: Vec<(usize, usize)> = tasks.into_par_iter().flat_map_iter(of_task).collect();
        needed.sort_unstable();
        let counted = needed.chunk_by(|a, b| a == b).map(|hops| (hops.len(), hops[0]));
        let (pairs, (from, to)) = counted.max_by_key(|(pairs, hop)| (*pairs, std::cmp::Reverse(*hop)))?;
        let steps = f64::from(std::mem::take(&mut self.hops[to * self.nodes.len() + from]));
        let [from, to] = [from, to].map(|node| self.nodes.frames[node]);
        let values =
            |id: FrameId| demos.states(id.episode)[id.frame * demos.width()..][..demos.width()].to_vec();
        Some(Bridge { from, to, steps, pairs, values_from: values(from), values_to: values(to) })
    }

    /// Returns, for each of `episodes`, the pairs of tasks that it alone connects: from the starts
    /// of one, to the ends of the other.
    pub fn only_connected_by(
        &self,
        demos: &Demos<'_>,
        episodes: &[usize],
        connected_frames: f64,
    ) -> Vec<Vec<(u32, u32)>> {
        let tasks: Vec<u32> = (0..demos.labels.tasks.len() as u32).collect();
        let starts = self.nodes.starts();
        // For each task: the starts that are connected with its ends.
        let connected = |without: Option<usize>| -> Vec<Vec<usize>> {
            let is_allowed = |node: usize| Some(self.nodes.episode(node)) != without;
            let to_task = |task: &u32| {
                let goals = self.goals(demos, *task).into_iter().filter(|goal| is_allowed(*goal));
                let found = self.search(&is_allowed, &goals.collect::<Vec<_>>());
                let is_near = |start: &usize| f64::from(found.bottleneck[*start]) <= connected_frames;
                starts.iter().copied().filter(is_near).collect()
            };
            tasks.iter().map(to_task).collect()
        };
        let all = connected(None);
        let of_episode = |episode: &usize| {
            let without = connected(Some(*episode));
            let pairs = tasks.iter().flat_map(|to| tasks.iter().map(move |from| (*from, *to)));
            let is_lost = |(from, to): &(u32, u32)| {
                let count = |starts: &[usize]| {
                    let others = starts.iter().map(|start| self.nodes.episode(*start));
                    others.filter(|other| other != episode && demos.labels.task[*other] == *from).count()
                };
                let [with, without] = [&all, &without].map(|starts| count(&starts[*to as usize]));
                2 * without < with
            };
            pairs.filter(is_lost).collect()
        };
        episodes.par_iter().map(of_episode).collect()
    }
}
