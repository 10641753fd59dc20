//! Defects of motion: stalls, laps, jumps, spikes, and the wrong pace.

use crate::demos::{
    Demos,
    displacement::{Displacements, Frames, hops},
    finding::{Finding, Rule},
};
use isochrone_core::statistics::median;
use std::ops::Range;

/// Lags at which typical displacements are measured, at 30 frames per second.
const LAGS: [usize; 8] = [1, 2, 5, 10, 15, 30, 60, 90];
/// A robot stalls if it moves less than this share of the typical displacement in 15 frames...
const STALL_LAG: usize = 15;
const STALL_SHARE: f64 = 0.25;
/// ... for at least this long.
const MIN_STALL: usize = 45;
/// A stall that begins or ends this close to an end of the episode is idle time.
const AT_THE_END: usize = 8;
/// A robot laps if it is, after one of these times, where it was...
const LAP_LAGS: [usize; 2] = [60, 90];
/// ... within this share of the time in frames of typical motion, without stalling.
const LAP_SHARE: f64 = 0.2;
const MAX_STALLED: f64 = 0.35;
/// A step is a jump if it is this many times the median of those around it.
const JUMP_RATIO: f64 = 5.5;
const JUMP_NEIGHBORS: usize = 6;
/// The pace is the mean displacement over this lag, without stalls and the lower third of the rest.
const PACE_LAG: usize = 5;
const PAUSES: f64 = 1.0 / 3.0;
/// Operators differ in pace by up to these factors.
const SLOWEST: f64 = 0.66;
const FASTEST: f64 = 1.45;

/// Typical motion, and the pace of every episode.
pub(super) struct Motion {
    frames: Frames,
    typical: Displacements,
    /// The median hop from one frame to the next, and over [`STALL_LAG`].
    typical_hop: f64,
    typical_stall_hop: f64,
    /// The pace of each episode as a multiple of the median; NaN if it is too short.
    paces: Vec<f64>,
}

impl Motion {
    pub fn fit(demos: &Demos<'_>, frames: Frames) -> Self {
        let mut lags = LAGS.map(|lag| frames.at_30(lag)).to_vec();
        lags.dedup();
        let typical = Displacements::fit(demos, &lags);
        let lag = frames.at_30(PACE_LAG);
        let still = STALL_SHARE * Displacements::typical_hop(demos, lag);
        let pace = |episode: usize| {
            let mut moved = hops(demos, episode, lag);
            moved.retain(|hop| *hop > still);
            moved.sort_unstable_by(f64::total_cmp);
            let moving = &moved[(moved.len() as f64 * PAUSES) as usize..];
            moving.iter().sum::<f64>() / moving.len() as f64
        };
        let mut paces = demos.map_episodes(pace);
        let typical_pace = median(paces.iter().copied().filter(|pace| pace.is_finite()).collect());
        paces.iter_mut().for_each(|pace| *pace /= typical_pace);
        let typical_stall_hop = Displacements::typical_hop(demos, frames.at_30(STALL_LAG));
        Self { frames, typical, typical_hop: Displacements::typical_hop(demos, 1), typical_stall_hop, paces }
    }

    /// Returns the stalls of an episode, and idle time at its ends.
    pub fn stalls(&self, demos: &Demos<'_>, episode: usize) -> Vec<Finding> {
        let lag = self.frames.at_30(STALL_LAG);
        let moved = hops(demos, episode, lag);
        let limit = STALL_SHARE * self.typical_stall_hop;
        let n = moved.len() + lag;
        let (at_end, min) = (self.frames.at_30(AT_THE_END), self.frames.at_30(MIN_STALL));
        let still =
            runs(moved.iter().map(|moved| *moved < limit)).map(|run| run.start..(run.end + lag - 1).min(n));
        let finding = |run: Range<usize>| {
            let rule = match run {
                _ if run.start < at_end => Rule::IdleHead,
                _ if run.end + at_end > n => Rule::IdleTail,
                _ => Rule::Stall,
            };
            let message = format!("does not move for {} frames", run.len());
            Finding {
                rule,
                first_frame: run.start,
                end_frame: run.end,
                score: run.len() as f64 / min as f64,
                message,
            }
        };
        still.filter(|run| run.len() >= min).map(finding).collect()
    }

    /// Returns the tightest lap of an episode.
    pub fn lap(&self, demos: &Demos<'_>, episode: usize, stalls: &[Finding]) -> Option<Finding> {
        let stalled = |range: &Range<usize>| {
            let overlap = |stall: &Finding| {
                stall.end_frame.min(range.end).saturating_sub(stall.first_frame.max(range.start))
            };
            stalls.iter().map(overlap).sum::<usize>() as f64 / range.len() as f64
        };
        let laps = LAP_LAGS.iter().flat_map(|lag| {
            let lag = self.frames.at_30(*lag);
            let limit = LAP_SHARE * lag as f64;
            let moved = self.typical.over(demos, episode, lag).into_iter().enumerate();
            moved
                .filter(move |(_, moved)| *moved < limit)
                .map(move |(at, moved)| (at..at + lag, moved, limit))
        });
        let moving = laps.filter(|(range, ..)| stalled(range) < MAX_STALLED);
        let wasted = |(range, moved, _): &(Range<usize>, f64, f64)| range.len() as f64 - moved;
        let (range, moved, limit) = moving.max_by(|a, b| wasted(a).total_cmp(&wasted(b)))?;
        Some(Finding {
            rule: Rule::Loop,
            first_frame: range.start,
            end_frame: range.end,
            score: (range.len() as f64 - moved) / (range.len() as f64 - limit),
            message: format!("after {} frames it is back where it was", range.len()),
        })
    }

    /// Returns the jumps and spikes of an episode as one finding.
    pub fn jumps(&self, demos: &Demos<'_>, episode: usize) -> Option<Finding> {
        let steps = hops(demos, episode, 1);
        let ratio = |at: usize| {
            let around = at.saturating_sub(JUMP_NEIGHBORS)..(at + JUMP_NEIGHBORS + 1).min(steps.len());
            steps[at] / (median(steps[around].to_vec()) + 0.5 * self.typical_hop)
        };
        let found: Vec<(usize, f64)> =
            (0..steps.len()).map(|at| (at, ratio(at))).filter(|(_, ratio)| *ratio > JUMP_RATIO).collect();
        let (first, last) = (found.first()?.0, found.last()?.0);
        let largest = found.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
        // Out and back again: a frame that is out of line.
        let is_spike = found.len() >= 2 && found[1].0 == first + 1;
        let (rule, what) = if is_spike { (Rule::Spike, "a spike") } else { (Rule::Jump, "a jump") };
        let message = format!("{what}: a step of {largest:.0} times those around it");
        Some(Finding { rule, first_frame: first, end_frame: last + 2, score: largest / JUMP_RATIO, message })
    }

    /// Returns whether the pace of an episode is beyond what operators differ by.
    pub fn pace(&self, demos: &Demos<'_>, episode: usize) -> Option<Finding> {
        let pace = self.paces[episode];
        let score = if pace > 1.0 { pace / FASTEST } else { SLOWEST / pace };
        let (times, word) = if pace > 1.0 { (pace, "fast") } else { (1.0 / pace, "slow") };
        let message = format!("{times:.1} times as {word} as other episodes");
        let end_frame = demos.data().index().steps(episode) + 1;
        (score > 1.0).then_some(Finding { rule: Rule::Pace, first_frame: 0, end_frame, score, message })
    }
}

/// Returns the ranges in which a flag is set.
pub(super) fn runs(flags: impl Iterator<Item = bool>) -> impl Iterator<Item = Range<usize>> {
    let mut flags = flags.chain([false]).enumerate();
    std::iter::from_fn(move || {
        let start = flags.find(|(_, flag)| *flag)?.0;
        let end = flags.find(|(_, flag)| !flag)?.0;
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_maximal() {
        let flags = [true, false, true, true, false, false, true];
        assert_eq!(runs(flags.into_iter()).collect::<Vec<_>>(), [0..1, 2..4, 6..7]);
        assert_eq!(runs([false; 3].into_iter()).count(), 0);
    }
}
