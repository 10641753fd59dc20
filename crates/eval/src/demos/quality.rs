//! How well steps to go predict the remaining frames, beside two baselines.

use super::Demos;
use crate::refined::nearest::Points;
use isochrone_core::statistics::{median, spearman};
use rayon::prelude::*;

/// The number of frames that are compared.
const FRAMES: usize = 4000;
/// The number of frames of other episodes that nearest neighbors are searched in.
const NEIGHBOR_FRAMES: usize = 100_000;
/// The number of nearest neighbors of the baseline.
const NEIGHBORS: usize = 15;

/// Rank correlations of predicted and remaining frames, over frames of all successes, and mean
/// absolute errors in frames. Remaining frames are no exact measure: an operator who hesitates has
/// more left. No prediction uses the frame's own episode.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ProgressQuality {
    /// The number of frames.
    pub frames: usize,
    /// Steps to go.
    pub steps_to_go: Prediction,
    /// The median over the 15 nearest frames of other successes of the task.
    pub nearest_neighbors: Prediction,
    /// The median length of other successes of the task minus the time since the start.
    pub linear_time: Prediction,
}

/// The quality of a prediction of remaining frames.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// Spearman's rank correlation over frames of all episodes.
    pub rank_correlation: f64,
    /// The mean absolute error in frames.
    pub mean_error_frames: f64,
}

impl ProgressQuality {
    /// Compares steps to go, for every frame of every episode, with remaining frames.
    pub(super) fn of(demos: &Demos<'_>, steps_to_go: &[Vec<f64>]) -> Self {
        let successes: Vec<usize> =
            (0..steps_to_go.len()).filter(|episode| demos.counts_as_success(*episode)).collect();
        let all: usize = successes.iter().map(|episode| steps_to_go[*episode].len()).sum();
        let every = all.div_ceil(FRAMES).max(1);
        let frames =
            successes.iter().flat_map(|episode| (0..steps_to_go[*episode].len()).map(|at| (*episode, at)));
        let frames: Vec<(usize, usize)> =
            frames.step_by(every).filter(|(episode, at)| steps_to_go[*episode][*at].is_finite()).collect();
        let remaining: Vec<f64> =
            frames.iter().map(|(episode, at)| (steps_to_go[*episode].len() - 1 - at) as f64).collect();
        let rate = |predicted: Vec<f64>| Prediction {
            rank_correlation: spearman(&predicted, &remaining),
            mean_error_frames: predicted.iter().zip(&remaining).map(|(a, b)| (a - b).abs()).sum::<f64>()
                / frames.len() as f64,
        };
        let lengths = lengths_without(demos, &successes);
        Self {
            frames: frames.len(),
            steps_to_go: rate(frames.iter().map(|(episode, at)| steps_to_go[*episode][*at]).collect()),
            nearest_neighbors: rate(neighbors(demos, &successes, &frames)),
            linear_time: rate(
                frames.iter().map(|(episode, at)| (lengths[*episode] - *at as f64).max(0.0)).collect(),
            ),
        }
    }
}

/// Returns, for every episode, the median length of the successes of its task.
fn lengths_without(demos: &Demos<'_>, successes: &[usize]) -> Vec<f64> {
    let length = |episode: &usize| demos.data.index().steps(*episode) as f64;
    let of_task = |task: u32| {
        let lengths = successes.iter().filter(|episode| demos.labels.task[**episode] == task).map(length);
        median(lengths.collect())
    };
    let tasks: Vec<f64> = (0..demos.labels.tasks.len()).map(|task| of_task(task as u32)).collect();
    demos.labels.task.iter().map(|task| tasks[*task as usize]).collect()
}

/// Returns the median of the remaining frames of the nearest frames of other episodes, in the hop
/// metric.
fn neighbors(demos: &Demos<'_>, successes: &[usize], frames: &[(usize, usize)]) -> Vec<f64> {
    let width = demos.width();
    let mut predicted = vec![f64::NAN; frames.len()];
    for task in 0..demos.labels.tasks.len() as u32 {
        let of_task: Vec<usize> =
            successes.iter().copied().filter(|episode| demos.labels.task[*episode] == task).collect();
        let all: usize = of_task.iter().map(|episode| demos.states(*episode).len() / width).sum();
        if of_task.is_empty() {
            continue;
        }
        let metric = &demos.metric;
        let (mut rows, mut owners) = (Vec::new(), Vec::new());
        let every = all.div_ceil(NEIGHBOR_FRAMES).max(1);
        for episode in &of_task {
            let states = demos.states(*episode);
            let n = states.len() / width;
            for frame in (0..n).step_by(every) {
                metric.project(&states[frame * width..][..width], &mut rows);
                owners.push((*episode, (n - 1 - frame) as f64));
            }
        }
        let points = Points::new(&rows, metric.projected_width());
        let predict = |(episode, at): &(usize, usize)| {
            let mut row = Vec::new();
            metric.project(&demos.states(*episode)[at * width..][..width], &mut row);
            // Enough to find others beyond the frames of its own episode.
            let near = points.nearest_few(&row, (16 * NEIGHBORS).min(owners.len()));
            let others =
                near.iter().map(|(at, _)| owners[*at as usize]).filter(|(owner, _)| owner != episode);
            median(others.take(NEIGHBORS).map(|(_, remaining)| remaining).collect())
        };
        let chosen: Vec<usize> =
            (0..frames.len()).filter(|at| demos.labels.task[frames[*at].0] == task).collect();
        let values: Vec<f64> = chosen.par_iter().map(|at| predict(&frames[*at])).collect();
        for (at, value) in chosen.into_iter().zip(values) {
            predicted[at] = value;
        }
    }
    predicted
}
