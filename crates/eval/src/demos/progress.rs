//! The progress of every frame.
//!
//! ```text
//! D(s) = quantile 0.25 over the ends g of other successes of the task of d(s, g)   a goal set
//! V(s) = c(D(s) - median over success ends of D(end))        anchored: an end reads 0
//! p(s) = 1 - V(s) / median V(first frames of the task)       clipped to 0..1
//! ```
//!
//! `d` is a refined distance that was fitted to other episodes, and `c` maps its steps, which are
//! those of the fastest operators, to the frames of typical ones. The denominator is one per task,
//! so that episodes can be compared.

use super::{Demos, pace::Pace, quality::ProgressQuality, smooth::running_median};
use isochrone_core::statistics::median;

/// Half of the window of the running median that removes noise.
const SMOOTHED_FRAMES: usize = 5;
/// After the last frame below this progress, progress does not fall: what is left is noise of a
/// robot at rest, and weights of RA-BC are 0 wherever progress falls.
const DONE: f64 = 0.99;

/// The progress of all frames.
pub struct Progress {
    /// For each episode.
    pub episodes: Vec<EpisodeProgress>,
    /// The steps to go at the start of each task, the median over successes; NaN if it is unknown.
    pub start_steps: Vec<f64>,
    /// How well steps to go predict the remaining frames of held-out successes.
    pub quality: ProgressQuality,
}

/// The progress of an episode's frames.
pub struct EpisodeProgress {
    /// The frames that a typical operator still needs; infinite if no path to a success is known,
    /// NaN if there is no other success of the task.
    pub steps_to_go: Vec<f64>,
    /// The share of the task that is done, in 0..1; NaN where `steps_to_go` is not finite.
    pub progress: Vec<f64>,
}

impl Progress {
    /// Computes the progress of all frames.
    pub fn of(demos: &Demos<'_>) -> Self {
        let task_of = |episode: usize| demos.labels.task[episode] as usize;
        let mut steps = demos.map_episodes(|episode| demos.readings_to_ends(episode, task_of(episode)));
        let mut start_steps = Vec::new();
        for task in 0..demos.labels.tasks.len() {
            let of_task = |episode: &usize| task_of(*episode) == task;
            let episodes: Vec<usize> = (0..steps.len()).filter(of_task).collect();
            start_steps.push(scale(demos, &episodes, &mut steps));
        }
        let quality = ProgressQuality::of(demos, &steps);
        let of_episode =
            |episode: usize| EpisodeProgress::new(&steps[episode], start_steps[task_of(episode)]);
        Self { episodes: demos.map_episodes(of_episode), start_steps, quality }
    }
}

/// Turns the readings of a task's episodes into frames to go. Returns those of the first frames.
fn scale(demos: &Demos<'_>, episodes: &[usize], readings: &mut [Vec<f64>]) -> f64 {
    let successes: Vec<usize> =
        episodes.iter().copied().filter(|episode| demos.counts_as_success(*episode)).collect();
    let finite_median =
        |values: &mut dyn Iterator<Item = f64>| median(values.filter(|value| value.is_finite()).collect());
    let last = |readings: &Vec<f64>| readings.last().copied().unwrap_or(f64::NAN);
    let at_end = finite_median(&mut successes.iter().map(|episode| last(&readings[*episode])));
    let at_end = if at_end.is_finite() { at_end } else { 0.0 };
    for episode in episodes {
        readings[*episode].iter_mut().for_each(|reading| *reading = (*reading - at_end).max(0.0));
    }
    let remaining = |episode: &usize| {
        let readings = &readings[*episode];
        let last = readings.len() - 1;
        let pairs =
            readings.iter().enumerate().map(move |(frame, reading)| (*reading, (last - frame) as f64));
        pairs.collect::<Vec<_>>()
    };
    let pace = Pace::fit(&successes.iter().map(remaining).collect::<Vec<_>>());
    for episode in episodes {
        readings[*episode].iter_mut().for_each(|reading| *reading = pace.of(*reading));
    }
    finite_median(&mut successes.iter().map(|episode| readings[*episode][0]))
}

impl EpisodeProgress {
    fn new(steps: &[f64], start_steps: f64) -> Self {
        let steps_to_go = running_median(steps, SMOOTHED_FRAMES);
        let share = |steps: &f64| match steps.is_finite() {
            true => (1.0 - steps / start_steps.max(1.0)).clamp(0.0, 1.0),
            false => f64::NAN,
        };
        let mut progress: Vec<f64> = steps_to_go.iter().map(share).collect();
        let done =
            progress.iter().rposition(|share| share.is_nan() || *share < DONE).map_or(0, |last| last + 1);
        let mut most = 0.0;
        for share in &mut progress[done..] {
            most = share.max(most);
            *share = most;
        }
        Self { steps_to_go, progress }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_does_not_fall_after_the_task_is_done() {
        let steps = [vec![100.0, 50.0, 20.0], vec![0.2; 6], vec![0.7; 6], vec![0.1; 6]].concat();
        let EpisodeProgress { progress, steps_to_go } = EpisodeProgress::new(&steps, 100.0);
        assert!(progress.is_sorted() && progress.iter().all(|share| (0.0..=1.0).contains(share)));
        assert!(!steps_to_go.is_sorted_by(|a, b| a >= b), "steps to go keep the noise");
    }

    #[test]
    fn falling_back_is_not_hidden() {
        let steps: Vec<f64> = (0..30).rev().chain(10..40).map(f64::from).collect();
        let progress = EpisodeProgress::new(&steps, 30.0).progress;
        assert!(progress[25] > 0.8 && progress[45] < 0.3, "{progress:?}");
        assert!(EpisodeProgress::new(&[f64::INFINITY; 3], 30.0).progress.iter().all(|share| share.is_nan()));
    }
}
