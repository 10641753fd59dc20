//! Where an episode ends, compared with other successes.

use super::{
    Demos,
    finding::{Finding, Rule},
};
use isochrone_core::statistics::median;

/// Fewer ends are no comparison.
const MIN_ENDS: usize = 8;
/// An end is elsewhere if a dimension is this many deviations from the median of other ends.
const ELSEWHERE: f64 = 6.0;
/// An episode belongs to another task if its end is this many times nearer to the ends of that one.
const NEARER: f64 = 3.0;
/// The neighbor among the ends that is compared.
const NEIGHBOR: usize = 2;
/// The score of a failure that is labeled so.
const LABELED: f64 = 0.5;
/// The standard deviation of a normal distribution in median absolute deviations.
const DEVIATION: f64 = 1.4826;
/// The smallest deviation, as a share of the standard deviation of the dataset.
const MIN_DEVIATION: f64 = 0.01;

/// The end of an episode beside the ends of other successes of its task.
pub(super) struct EndComparison {
    /// The dimension that differs most, and by how many deviations.
    dimension: usize,
    deviations: f64,
    /// The task whose ends are nearest, and how many times nearer than those of its own.
    nearest_task: usize,
    times_nearer: f64,
}

impl EndComparison {
    /// Compares an episode; `None` if its task has too few other successes.
    pub fn of(demos: &Demos<'_>, episode: usize) -> Option<Self> {
        let (states, width) = (demos.states(episode), demos.width());
        let end = &states[states.len() - width..];
        let reference = demos.reference(episode);
        let own = demos.labels.task[episode] as usize;
        let cloud = |task: usize| Cloud::of(&reference.ends[task], &reference.deviations);
        let own_ends = cloud(own)?;
        let (dimension, deviations) = own_ends.largest_deviation(end);
        let others = (0..demos.labels.tasks.len()).filter(|task| *task != own);
        let nearest = others.filter_map(|task| Some((task, cloud(task)?.to_neighbor(end))));
        let nearest = nearest.min_by(|a, b| a.1.total_cmp(&b.1));
        let (nearest_task, other) = nearest.unwrap_or((own, f64::INFINITY));
        let times_nearer = own_ends.to_neighbor(end) / other;
        Some(Self { dimension, deviations, nearest_task, times_nearer })
    }

    /// Returns a finding if the end is elsewhere.
    pub fn finding(&self, demos: &Demos<'_>, episode: usize) -> Option<Finding> {
        if self.deviations <= ELSEWHERE {
            return None;
        }
        let frames = demos.data.index().steps(episode) + 1;
        let dimension = demos.data.spec().observation.dimension(self.dimension);
        Some(if self.times_nearer > NEARER {
            let message = format!("ends like '{}'", demos.labels.tasks[self.nearest_task]);
            let score = self.times_nearer / NEARER;
            Finding { rule: Rule::Task, first_frame: 0, end_frame: frames, score, message }
        } else {
            let far = self.deviations.min(999.0);
            let message = format!("ends elsewhere: {dimension} is {far:.0} deviations from other ends");
            let score = self.deviations / ELSEWHERE;
            // A failure that is labeled so is no defect, but it is no demonstration of the task.
            let score = if demos.labels.success[episode] == Some(false) { LABELED } else { score };
            Finding { rule: Rule::End, first_frame: frames - 1, end_frame: frames, score, message }
        })
    }
}

impl Demos<'_> {
    /// Returns the name of the task, other than its own, whose ends are nearest to that of an
    /// episode; `None` if there is nothing to compare it with.
    pub fn other_task(&self, episode: usize) -> Option<String> {
        let nearest = EndComparison::of(self, episode)?.nearest_task;
        Some(self.labels.tasks[nearest].clone())
    }
}

/// The ends of a task.
struct Cloud<'a> {
    ends: &'a [f32],
    median: Vec<f64>,
    deviation: Vec<f64>,
}

impl<'a> Cloud<'a> {
    fn of(ends: &'a [f32], of_data: &[f64]) -> Option<Self> {
        let width = of_data.len();
        if ends.len() < MIN_ENDS * width {
            return None;
        }
        let column = |index: usize| ends.iter().skip(index).step_by(width).map(|value| f64::from(*value));
        let middle: Vec<f64> = (0..width).map(|index| median(column(index).collect())).collect();
        let deviation = |index: usize| {
            let apart = median(column(index).map(|value| (value - middle[index]).abs()).collect());
            (DEVIATION * apart + MIN_DEVIATION * of_data[index]).max(f64::MIN_POSITIVE)
        };
        let deviation = (0..width).map(deviation).collect();
        Some(Self { ends, median: middle, deviation })
    }

    fn largest_deviation(&self, state: &[f32]) -> (usize, f64) {
        let apart = |(index, value): (usize, &f32)| {
            (index, (f64::from(*value) - self.median[index]).abs() / self.deviation[index])
        };
        let apart = state.iter().enumerate().map(apart);
        apart.max_by(|a, b| a.1.total_cmp(&b.1)).expect("a state has dimensions")
    }

    /// Returns the distance to a near end, in deviations.
    fn to_neighbor(&self, state: &[f32]) -> f64 {
        let apart = |end: &[f32]| {
            let parts = end.iter().zip(state).zip(&self.deviation);
            parts.map(|((a, b), deviation)| (f64::from(a - b) / deviation).powi(2)).sum::<f64>().sqrt()
        };
        let mut apart: Vec<f64> = self.ends.chunks_exact(state.len()).map(apart).collect();
        *apart.select_nth_unstable_by(NEIGHBOR, f64::total_cmp).1
    }
}
