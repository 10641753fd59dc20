//! References: for every episode, a refined distance and ends of successes without that episode.

use super::{DemosConfig, DemosError};
use crate::refined::{HopMetric, RefinedDistance, RefinedError};
use isochrone_core::{
    TemporalDistance as _,
    statistics::{median, quantile},
};
use isochrone_data::{Dataset, EpisodeLabels};
use rayon::prelude::*;

/// The quantile over ends of other episodes. It is low because the nearest ends are the relevant
/// ones, and not 0 because some ends are falsely labeled successes.
const END_QUANTILE: f64 = 0.25;

/// Demonstrations, and the distances that read them.
pub struct Demos<'a> {
    pub(super) data: &'a Dataset,
    pub(super) labels: EpisodeLabels,
    /// Whether each episode counts as a success.
    is_success: Vec<bool>,
    references: Vec<Reference>,
    /// The metric of short movements: the median of those of the references.
    pub(super) metric: HopMetric,
}

/// What the episodes of a fold are compared with.
pub(super) struct Reference {
    pub distance: RefinedDistance,
    /// For every task, the last states of episodes of other folds that count as successes, `[n,
    /// width]`.
    pub ends: Vec<Vec<f32>>,
    /// The standard deviation of each column.
    pub deviations: Vec<f64>,
}

impl<'a> Demos<'a> {
    /// Fits the distances. `on_fold` is called after each of [`n_folds`](Self::n_folds) folds.
    ///
    /// # Errors
    /// If there are fewer than two episodes, or a distance cannot be fitted.
    pub fn fit(
        data: &'a Dataset,
        config: &DemosConfig,
        on_fold: &mut dyn FnMut(),
    ) -> Result<Self, DemosError> {
        let episodes = data.n_episodes();
        if episodes < 2 {
            return Err(DemosError::TooFewEpisodes { episodes });
        }
        // Episodes are counted in the whole dataset, not in a fold.
        data.check_finite().map_err(RefinedError::from)?;
        let labels = data.labels();
        let is_success = successes(&labels);
        let folds = Self::n_folds(episodes, config);
        let mut references = Vec::with_capacity(folds);
        for fold in 0..folds {
            let others: Vec<usize> = (0..episodes).filter(|episode| episode % folds != fold).collect();
            references.push(Reference::fit(data, (&labels, &is_success), &others, config)?);
            on_fold();
        }
        let metric = median_metric(&references);
        Ok(Self { data, labels, is_success, references, metric })
    }

    /// Returns the number of folds for a number of episodes.
    pub fn n_folds(episodes: usize, config: &DemosConfig) -> usize {
        config.folds.clamp(2, episodes.max(2))
    }

    /// Returns the demonstrations.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Returns the tasks and successes.
    pub fn labels(&self) -> &EpisodeLabels {
        &self.labels
    }

    /// Returns the reference of an episode, which does not contain it.
    pub(super) fn reference(&self, episode: usize) -> &Reference {
        &self.references[episode % self.references.len()]
    }

    /// Returns the states of an episode, `[frames, width]`.
    pub(super) fn states(&self, episode: usize) -> &'a [f32] {
        self.data.episode(episode).observations
    }

    pub(super) fn width(&self) -> usize {
        self.data.spec().observation.width
    }

    /// Returns whether an episode counts as a success: labeled so or, if its task has no success
    /// label at all, in any case.
    pub(super) fn counts_as_success(&self, episode: usize) -> bool {
        self.is_success[episode]
    }

    /// Returns the readings of an episode's frames to the ends of other successes of a task, as a
    /// quantile over the ends; infinite where no path is known, NaN if there is no such end.
    pub(super) fn readings_to_ends(&self, episode: usize, task: usize) -> Vec<f64> {
        let reference = self.reference(episode);
        let (states, ends) = (self.states(episode), &reference.ends[task]);
        let n_ends = ends.len() / self.width();
        if n_ends == 0 {
            return vec![f64::NAN; states.len() / self.width()];
        }
        let steps = reference.distance.all_pairs_steps(states, ends).expect("they are full states");
        steps.chunks_exact(n_ends).map(|steps| quantile(steps.to_vec(), END_QUANTILE)).collect()
    }

    /// Computes a value for every episode, in parallel.
    pub(super) fn map_episodes<T: Send>(&self, of_episode: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        (0..self.data.n_episodes()).into_par_iter().map(of_episode).collect()
    }
}

/// Returns, for every episode, whether it counts as a success: it is labeled so, or its task has no
/// success. Programs that write no label leave it to the operator to keep successes only.
fn successes(labels: &EpisodeLabels) -> Vec<bool> {
    let is_labeled = |episode: usize| labels.success[episode] == Some(true);
    let mut has_success = vec![false; labels.tasks.len()];
    for (episode, task) in labels.task.iter().enumerate() {
        has_success[*task as usize] |= is_labeled(episode);
    }
    let counts = |(episode, task): (usize, &u32)| is_labeled(episode) || !has_success[*task as usize];
    labels.task.iter().enumerate().map(counts).collect()
}

impl Reference {
    fn fit(
        data: &Dataset,
        (labels, is_success): (&EpisodeLabels, &[bool]),
        episodes: &[usize],
        config: &DemosConfig,
    ) -> Result<Self, DemosError> {
        let index = data.index();
        let width = data.spec().observation.width;
        let frames: usize = episodes.iter().map(|episode| index.steps(*episode) + 1).sum();
        let stride = frames.div_ceil(config.reference_frames.max(1)).max(1);
        let chosen = episodes.iter().step_by(stride);
        let states = chosen.map(|episode| (data.episode(*episode).observations.to_vec(), Vec::new()));
        let reference = Dataset::from_arrays(width, 0, states)?;
        let distance = RefinedDistance::fit(&reference, &config.refined)?;
        let ends_of = |task: usize| {
            let is_end = |episode: &&usize| labels.task[**episode] == task as u32 && is_success[**episode];
            let ends: Vec<usize> = episodes.iter().filter(is_end).copied().collect();
            let chosen = ends.iter().step_by(ends.len().div_ceil(config.ends_per_task.max(1)).max(1));
            let last = |episode: &usize| {
                let states = data.episode(*episode).observations;
                states[states.len() - width..].to_vec()
            };
            chosen.flat_map(last).collect()
        };
        let ends = (0..labels.tasks.len()).map(ends_of).collect();
        Ok(Self { distance, ends, deviations: deviations(&reference) })
    }
}

/// Returns the metric with the median weight of each column: a single regression may give a column
/// that seldom moves, such as a gripper, a weight far from that of the others.
fn median_metric(references: &[Reference]) -> HopMetric {
    let weights: Vec<Vec<f64>> =
        references.iter().map(|reference| reference.distance.metric().weights()).collect();
    let column = |column: usize| median(weights.iter().map(|weights| weights[column]).collect());
    HopMetric::new(&(0..weights[0].len()).map(column).collect::<Vec<f64>>())
}

/// Returns the standard deviation of each column.
fn deviations(data: &Dataset) -> Vec<f64> {
    let width = data.spec().observation.width;
    let (mut sums, mut squares) = (vec![0.0; width], vec![0.0; width]);
    let rows = data.index().n_states() as f64;
    for episode in 0..data.n_episodes() {
        for (at, value) in data.episode(episode).observations.iter().enumerate() {
            sums[at % width] += f64::from(*value);
            squares[at % width] += f64::from(*value).powi(2);
        }
    }
    let deviation = |(sum, square): (f64, f64)| (square / rows - (sum / rows).powi(2)).max(0.0).sqrt();
    sums.into_iter().zip(squares).map(deviation).collect()
}
