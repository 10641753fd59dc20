//! Summary statistics of a dataset, computed in one pass over its episodes.

use crate::{
    DataError, EpisodeSink, EpisodeView, Feature, Spec, dimension_summary::DimensionSummary,
    episode_ends::are_alike,
};
use std::collections::BTreeMap;

/// The maximum number of episodes kept for a figure.
const MAX_PATHS: usize = 256;
/// The maximum number of states kept of each of these episodes.
const MAX_PATH_STATES: usize = 512;
/// A frame rate is wrong if it differs from that of the timestamps by more than this fraction.
const RATE_TOLERANCE: f64 = 0.05;
/// The maximum number of gaps between timestamps kept to find the typical one.
const MAX_GAPS: usize = 4096;

/// Counts, lengths and ranges: everything that `isochrone data inspect` shows. Memory use does not
/// grow with the number of states.
#[derive(Debug, Clone, Default)]
pub struct DatasetSummary {
    /// The description of the columns.
    pub spec: Option<Spec>,
    /// The number of episodes for each number of steps.
    pub lengths: BTreeMap<usize, u64>,
    /// The number of episodes for each ending: unknown, terminated, truncated.
    pub endings: [u64; 3],
    /// A summary of each dimension of the observations.
    pub observations: Vec<DimensionSummary>,
    /// A summary of each dimension of the last observations of the episodes.
    pub last_observations: Vec<DimensionSummary>,
    /// A summary of each dimension of the actions.
    pub actions: Vec<DimensionSummary>,
    /// A summary of each dimension of each extra column.
    pub extras: Vec<Vec<DimensionSummary>>,
    /// A summary of the rewards.
    pub rewards: DimensionSummary,
    /// The number of action values outside [-1, 1].
    pub actions_beyond_one: u64,
    /// The step sizes of each dimension of an observation.
    pub(crate) step_sizes: Vec<StepSizeHistogram>,
    gaps: Vec<f64>,
    paths: Vec<Vec<[f32; 2]>>,
    path_stride: usize,
}

/// A histogram of the absolute change of a dimension in one step, in bins of a quarter of an
/// octave.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct StepSizeHistogram {
    /// The number of steps without a change.
    still: u64,
    /// Empty until the first change.
    bins: Vec<u64>,
}

const BINS_PER_OCTAVE: f64 = 4.0;
const OCTAVES: i32 = 80;

const BINS: usize = 2 * OCTAVES as usize * BINS_PER_OCTAVE as usize;

impl StepSizeHistogram {
    fn add(&mut self, distance: f32) {
        if distance == 0.0 {
            self.still += 1;
        } else if distance.is_finite() {
            let bin = (f64::from(distance).log2() + f64::from(OCTAVES)) * BINS_PER_OCTAVE;
            self.bins.resize(BINS, 0);
            self.bins[(bin.max(0.0) as usize).min(BINS - 1)] += 1;
        }
    }

    /// Returns a step size that this share of all steps does not exceed, up to a quarter of an
    /// octave. Returns `None` if this share of all steps has no change.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let total = self.still + self.bins.iter().sum::<u64>();
        let wanted = (share * total as f64).ceil() as u64;
        let mut seen = self.still;
        if seen >= wanted {
            return None;
        }
        for (bin, count) in self.bins.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Some(((bin + 1) as f64 / BINS_PER_OCTAVE - f64::from(OCTAVES)).exp2());
            }
        }
        None
    }
}

impl DatasetSummary {
    /// Returns the number of episodes.
    pub fn n_episodes(&self) -> u64 {
        self.endings.iter().sum()
    }

    /// Returns the number of transitions.
    pub fn n_transitions(&self) -> u64 {
        self.lengths.iter().map(|(&steps, &count)| steps as u64 * count).sum()
    }

    /// Returns whether episodes end in similar states, as [demonstrations do](crate::end_alike).
    pub fn episodes_end_alike(&self) -> bool {
        are_alike(&self.observations, &self.last_observations)
    }

    /// Returns the typical time between two states in seconds: the median gap between the first
    /// timestamps or, without timestamps, the inverse of the frame rate.
    pub fn typical_gap(&self) -> Option<f64> {
        let rate = self.spec.as_ref().and_then(|spec| spec.frames_per_second);
        self.timestamp_gap().or(rate.map(|rate| 1.0 / rate))
    }

    /// Returns the median gap between the first timestamps in seconds, if it is positive.
    pub fn timestamp_gap(&self) -> Option<f64> {
        let mut gaps = self.gaps.clone();
        gaps.sort_by(f64::total_cmp);
        gaps.get(gaps.len() / 2).copied().filter(|gap| *gap > 0.0)
    }

    /// Returns the declared frame rate and that of the timestamps, if they contradict each other.
    pub fn contradicted_rate(&self) -> Option<(f64, f64)> {
        let declared = self.spec.as_ref()?.frames_per_second?;
        let found = 1.0 / self.timestamp_gap()?;
        ((declared / found - 1.0).abs() > RATE_TOLERANCE).then_some((declared, found))
    }

    /// Returns the first two dimensions of some episodes, spread over the dataset and subsampled,
    /// for a figure.
    pub fn paths(&self) -> &[Vec<[f32; 2]>] {
        &self.paths
    }

    fn keep_path(&mut self, width: usize, episode: &EpisodeView<'_>) {
        let number = self.n_episodes() as usize;
        self.path_stride = self.path_stride.max(1);
        if width < 2 || !number.is_multiple_of(self.path_stride) {
            return;
        }
        if self.paths.len() == MAX_PATHS {
            // Every other path is removed, so that the remaining ones are spread evenly.
            let mut at = 0;
            self.paths.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.path_stride *= 2;
            if !number.is_multiple_of(self.path_stride) {
                return;
            }
        }
        let stride = (episode.steps + 1).div_ceil(MAX_PATH_STATES);
        let states = episode.observations.chunks_exact(width).step_by(stride);
        self.paths.push(states.map(|state| [state[0], state[1]]).collect());
    }
}

fn add_rows(summaries: &mut [DimensionSummary], feature: &Feature, rows: &[f32]) {
    if feature.width > 0 {
        for row in rows.chunks_exact(feature.width) {
            summaries.iter_mut().zip(row).for_each(|(summary, &value)| summary.add(value));
        }
    }
}

impl EpisodeSink for DatasetSummary {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        let summaries = |feature: &Feature| vec![DimensionSummary::default(); feature.width];
        self.observations = summaries(&spec.observation);
        self.last_observations = summaries(&spec.observation);
        self.actions = summaries(&spec.action);
        self.extras = spec.extras.iter().map(summaries).collect();
        self.step_sizes = vec![StepSizeHistogram::default(); spec.observation.width];
        self.spec = Some(spec.clone());
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let spec = self.spec.take().expect("begin is called first");
        let width = spec.observation.width;
        self.keep_path(width, episode);
        *self.lengths.entry(episode.steps).or_default() += 1;
        self.endings[episode.ending as usize] += 1;
        add_rows(&mut self.observations, &spec.observation, episode.observations);
        let last = episode.observations.len().saturating_sub(width);
        add_rows(&mut self.last_observations, &spec.observation, &episode.observations[last..]);
        add_rows(&mut self.actions, &spec.action, episode.actions);
        for ((summaries, feature), rows) in self.extras.iter_mut().zip(&spec.extras).zip(&episode.extras) {
            add_rows(summaries, feature, rows);
        }
        episode.rewards.iter().for_each(|&reward| self.rewards.add(reward));
        self.actions_beyond_one += episode.actions.iter().filter(|action| action.abs() > 1.0).count() as u64;
        for (before, after) in
            episode.observations.chunks_exact(width).zip(episode.observations[width..].chunks_exact(width))
        {
            for ((step_sizes, before), after) in self.step_sizes.iter_mut().zip(before).zip(after) {
                step_sizes.add((after - before).abs());
            }
        }
        let room = MAX_GAPS - self.gaps.len();
        self.gaps.extend(episode.timestamps.windows(2).take(room).map(|pair| pair[1] - pair[0]));
        self.spec = Some(spec);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;

    /// The result is the same as for a dataset in memory.
    #[test]
    fn a_summary_detects_whether_episodes_end_alike() {
        let to_zero = |start: usize| (0..=10).map(|step| (start * (10 - step)) as f32).collect::<Vec<_>>();
        for (is_reversed, expected) in [(false, true), (true, false)] {
            let rows = (0..20).map(|start| {
                let mut rows = to_zero(start);
                if is_reversed {
                    rows.reverse();
                }
                (rows, Vec::new())
            });
            let data = Dataset::from_arrays(1, 0, rows).unwrap();
            let mut summary = DatasetSummary::default();
            data.send(&mut summary).unwrap();
            assert_eq!((summary.episodes_end_alike(), crate::end_alike(&data)), (expected, expected));
        }
    }
}
