//! Results of recent goals.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
};

/// Results of recent goals, by the bits of the goal.
pub(crate) struct GoalCache<T> {
    known: Mutex<HashMap<Vec<u32>, Arc<T>>>,
    max_goals: usize,
}

/// The maximum number of goals: enough for some thousand rollouts.
const MAX_GOALS: usize = 4096;
/// The maximum number of values of all goals.
const MAX_VALUES: usize = 1 << 25;

impl<T> GoalCache<T> {
    /// Creates a cache of results with this many values each.
    pub fn new(values_per_goal: usize) -> Self {
        let max_goals = (MAX_VALUES / values_per_goal.max(1)).clamp(1, MAX_GOALS);
        Self { known: Mutex::default(), max_goals }
    }

    /// Returns the results of goals, `[n, width]`. `compute` returns those of unknown goals,
    /// each of which it gets once.
    pub fn get(&self, goals: &[f32], width: usize, compute: impl FnOnce(&[f32]) -> Vec<T>) -> Vec<Arc<T>> {
        let bits = |goal: &[f32]| goal.iter().map(|x| x.to_bits()).collect();
        let keys: Vec<Vec<u32>> = goals.chunks_exact(width).map(bits).collect();
        let known = || self.known.lock().expect("no thread panics while holding it");
        let mut found: Vec<Option<Arc<T>>> = keys.iter().map(|key| known().get(key).cloned()).collect();
        // Many rows often share a goal: the first of them stands for all.
        let mut new = HashSet::new();
        let unknown: Vec<usize> =
            (0..keys.len()).filter(|&row| found[row].is_none() && new.insert(&keys[row])).collect();
        if !unknown.is_empty() {
            let rows: Vec<f32> =
                unknown.iter().flat_map(|&row| &goals[row * width..][..width]).copied().collect();
            // One call for all goals, so that nodes are encoded only once. The lock is not held: a
            // network computes in parallel, and a waiting thread may pick up work that calls this
            // method.
            let results = compute(&rows).into_iter().map(Arc::new);
            let computed: HashMap<&Vec<u32>, Arc<T>> =
                unknown.iter().map(|&row| &keys[row]).zip(results).collect();
            for (found, key) in found.iter_mut().zip(&keys) {
                found.get_or_insert_with(|| Arc::clone(&computed[key]));
            }
            let mut known = known();
            if known.len() + unknown.len() > self.max_goals {
                known.clear();
            }
            let kept = unknown.iter().take(self.max_goals).map(|&row| &keys[row]);
            known.extend(kept.map(|key| (key.clone(), Arc::clone(&computed[key]))));
        }
        found.into_iter().map(|result| result.expect("all are found or computed")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unknown_goal_is_computed_once() {
        let cache = GoalCache::new(1);
        let mut computed = Vec::new();
        let mut sums = |goals: &[f32]| -> Vec<f32> {
            let results = cache.get(goals, 2, |unknown| {
                computed.push(unknown.to_vec());
                unknown.chunks_exact(2).map(|goal| goal[0] + goal[1]).collect()
            });
            results.iter().map(|result| **result).collect()
        };
        assert_eq!(sums(&[1.0, 2.0, 1.0, 2.0, 5.0, 5.0, 1.0, 2.0]), [3.0, 3.0, 10.0, 3.0]);
        assert_eq!(sums(&[5.0, 5.0, 0.0, 1.0, 0.0, 1.0]), [10.0, 1.0, 1.0]);
        assert_eq!(computed, [vec![1.0, 2.0, 5.0, 5.0], vec![0.0, 1.0]]);
    }
}
