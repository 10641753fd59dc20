//! The shortest paths of a graph: a table of all pairs, or searches.

use super::graph::Graph;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
};

/// The number of cached searches.
const MAX_CACHED_GOALS: usize = 1024;

/// The graph of a reading and its shortest paths.
pub(super) struct Paths {
    pub graph: Graph,
    pub has_table: bool,
    /// Steps between all pairs of landmarks, `[to, from]`; computed on first use.
    table: OnceLock<Vec<f32>>,
    /// Searches for recent goals.
    found: Mutex<HashMap<u32, Arc<Found>>>,
}

/// The paths from all landmarks to a goal.
pub(super) struct Found {
    /// The first edge of each path.
    pub first_edges: Vec<u32>,
    /// The length of each path, in steps; empty if there is a table.
    steps: Vec<f32>,
}

impl Paths {
    pub fn new(graph: Graph, has_table: bool) -> Self {
        Self { graph, has_table, table: OnceLock::new(), found: Mutex::default() }
    }

    pub fn make_table(&self) {
        if self.has_table {
            self.table.get_or_init(|| self.graph.table());
        }
    }

    /// Passes the steps from all landmarks to a goal landmark to `read`.
    pub fn to_goal<T>(&self, goal: u32, read: impl FnOnce(&[f32]) -> T) -> T {
        if self.has_table {
            let n = self.graph.n_landmarks();
            return read(&self.table.get_or_init(|| self.graph.table())[goal as usize * n..][..n]);
        }
        read(&self.search(goal).steps)
    }

    /// Returns the cached paths to a goal, or searches. The lock is not held during the search, so
    /// that threads do not wait for each other.
    pub fn search(&self, goal: u32) -> Arc<Found> {
        let lock = || self.found.lock().expect("no thread panics while holding it");
        if let Some(found) = lock().get(&goal) {
            return Arc::clone(found);
        }
        let mut search = self.graph.search(goal as usize);
        let steps = if self.has_table { Vec::new() } else { self.graph.steps(&mut search) };
        let found = Arc::new(Found { first_edges: search.first_edges, steps });
        let mut known = lock();
        if known.len() == MAX_CACHED_GOALS {
            known.clear();
        }
        known.insert(goal, Arc::clone(&found));
        found
    }
}
