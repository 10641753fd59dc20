//! Labels of episodes: tasks and successes.

use crate::{DataError, Dataset, EpisodeSink, EpisodeView, Feature, Spec, success};
use std::collections::BTreeSet;

/// The extra column with the number of the task.
pub(crate) const TASK_COLUMN: &str = "task_index";

/// The task and the success of every episode of a dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeLabels {
    /// The names of the tasks: those of the spec, then `task N` for every other number N that
    /// occurs. One task without a name if the dataset has no column `task_index`.
    pub tasks: Vec<String>,
    /// The task of each episode at its first state, as an index of `tasks`.
    pub task: Vec<u32>,
    /// Whether each episode has a state with a success flag; `None` without such a column.
    pub success: Vec<Option<bool>>,
}

/// Collects the labels of episodes, without keeping the episodes.
#[derive(Debug, Clone, Default)]
pub struct LabelSink {
    /// The names of the spec.
    names: Vec<String>,
    /// The extra columns with the task and the success flag.
    task_column: Option<usize>,
    flag: Option<usize>,
    tasks: Vec<u32>,
    success: Vec<Option<bool>>,
}

impl LabelSink {
    /// Returns the labels of all episodes so far.
    pub fn finish(self) -> EpisodeLabels {
        let mut tasks: Vec<String> = match self.task_column {
            Some(_) => self.names.iter().enumerate().map(named).collect(),
            None => vec![String::new()],
        };
        // Numbers without a name follow those with one, however large they are.
        let n_named = tasks.len() as u32;
        let other: BTreeSet<u32> = self.tasks.iter().copied().filter(|&number| number >= n_named).collect();
        let other: Vec<u32> = other.into_iter().collect();
        tasks.extend(other.iter().map(|number| format!("task {number}")));
        let place = |number: u32| match other.binary_search(&number) {
            Ok(at) => n_named + at as u32,
            Err(_) => number,
        };
        EpisodeLabels { tasks, task: self.tasks.into_iter().map(place).collect(), success: self.success }
    }
}

impl EpisodeSink for LabelSink {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        let is_task = |extra: &Feature| extra.width == 1 && extra.name == TASK_COLUMN;
        let task_column = spec.extras.iter().position(is_task);
        *self = Self { names: spec.tasks.clone(), task_column, flag: success::flag(spec), ..Self::default() };
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        self.tasks.push(self.task_column.map_or(0, |task| episode.extras[task][0] as u32));
        self.success.push(self.flag.map(|flag| episode.extras[flag].iter().any(|&value| value > 0.0)));
        Ok(())
    }
}

impl Dataset {
    /// Returns the labels of the episodes. They are only found if extra columns are read.
    pub fn labels(&self) -> EpisodeLabels {
        let mut sink = LabelSink::default();
        self.send(&mut sink).expect("a sink of labels takes any episode");
        sink.finish()
    }
}

fn named((number, name): (usize, &String)) -> String {
    if name.is_empty() { format!("task {number}") } else { name.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Episode;

    #[test]
    fn numbers_without_a_name_follow_those_with_one() {
        let mut spec = Spec::new(1, 0);
        spec.extras = vec![Feature::new("task_index", 1), Feature::new("next.success", 1)];
        spec.tasks = vec!["push".into(), String::new()];
        let episode = |task: f32, last: f32| Episode {
            observations: vec![0.0; 2],
            extras: vec![vec![task; 2], vec![0.0, last]],
            ..Episode::default()
        };
        let episodes = [episode(9.0, 1.0), episode(1.0, 0.0), episode(0.0, 1.0), episode(3e9, 0.0)];
        let labels = Dataset::from_episodes(&spec, episodes).unwrap().labels();
        assert_eq!(labels.tasks, ["push", "task 1", "task 9", "task 3000000000"]);
        assert_eq!(labels.task, [2, 1, 0, 3]);
        assert_eq!(labels.success, [Some(true), Some(false), Some(true), Some(false)]);
    }

    #[test]
    fn a_dataset_without_labels_is_one_task_without_a_name() {
        let data = Dataset::from_arrays(1, 0, [(vec![0.0, 1.0], vec![]), (vec![2.0, 1.0], vec![])]).unwrap();
        let expected = EpisodeLabels { tasks: vec![String::new()], task: vec![0; 2], success: vec![None; 2] };
        assert_eq!(data.labels(), expected);
    }
}
