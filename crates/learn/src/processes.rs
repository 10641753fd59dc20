//! The processes that train a learner together.

use crate::metrics::Metrics;
use isochrone_nn::group::ProcessGroup;

/// The processes that train a learner together: one, unless a group is given.
///
/// Every process has the same parameters and its own rows of each batch. Gradients, and everything
/// else that depends on the rows of a batch, are averaged over processes.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    all: Option<ProcessGroup>,
    negatives: Option<ProcessGroup>,
}

impl Processes {
    /// Creates the processes of a group. Contrastive losses take negatives from groups of
    /// `processes_per_group` processes, which divides their number; from all if `None`. All
    /// processes must call it.
    pub fn new(group: &ProcessGroup, processes_per_group: Option<usize>) -> Self {
        if group.size() == 1 {
            return Self::default();
        }
        let negatives = match processes_per_group {
            None => Some(group.clone()),
            Some(1) => None,
            Some(size) => Some(group.split(size)),
        };
        Self { all: Some(group.clone()), negatives }
    }

    /// The index of this process, from 0.
    pub fn rank(&self) -> usize {
        self.all.as_ref().map_or(0, ProcessGroup::rank)
    }

    /// The number of processes.
    pub fn size(&self) -> usize {
        self.all.as_ref().map_or(1, ProcessGroup::size)
    }

    /// All processes; `None` if this is the only one.
    pub fn all(&self) -> Option<&ProcessGroup> {
        self.all.as_ref()
    }

    /// The processes whose rows are negatives of a contrastive loss; `None` if only those of this
    /// process are.
    pub fn negatives(&self) -> Option<&ProcessGroup> {
        self.negatives.as_ref()
    }

    /// Returns the index in the batch of all processes of the first of `rows` rows of this process.
    pub fn first_row(&self, rows: usize) -> usize {
        self.rank() * rows
    }

    /// Returns the mean of a number over processes, such as the violation of a constraint.
    pub fn mean(&self, value: f64) -> f64 {
        let mut mean = [value];
        if let Some(group) = &self.all {
            group.mean_f64("multiplier", &mut mean);
        }
        mean[0]
    }

    /// Averages the metrics of an update over several processes and returns whether any of them was
    /// asked to stop.
    pub(crate) fn agree_on_step(&self, metrics: &mut Metrics, is_stopped: bool) -> bool {
        let Some(group) = &self.all else { return false };
        let mut values: Vec<f64> = metrics.iter().map(|(_, value)| value).collect();
        values.push(f64::from(u8::from(is_stopped)));
        group.mean_f64("metrics", &mut values);
        let stopped = values.pop().is_some_and(|stopped| stopped > 0.0);
        metrics.set_all(&values);
        stopped
    }
}
