//! Search of paths in a complete graph.

use super::{goal_cache::GoalCache, growing_tree::GrowingTree, pursuit::Paths, soft::SoftGraph};
use crate::nearest::Direction;
use isochrone_core::TemporalDistance;
use rayon::prelude::*;
use std::sync::{Arc, Mutex};

/// A complete graph, and the shortest paths to recent goals.
pub(super) struct SoftSearch {
    graph: SoftGraph,
    trees: GoalCache<Mutex<GrowingTree>>,
}

impl SoftSearch {
    pub fn new(distance: &dyn TemporalDistance, states: &[f32], edge_scale_nats: f32) -> Self {
        let graph = SoftGraph::new(distance, states, edge_scale_nats);
        let n = states.len() / distance.width();
        Self { graph, trees: GoalCache::new(GrowingTree::VALUES_PER_STATE * n) }
    }
}

/// A search with its distance and its states.
#[derive(Clone, Copy)]
pub(super) struct SoftView<'a> {
    pub search: &'a SoftSearch,
    pub distance: &'a dyn TemporalDistance,
    /// The states of the graph, `[n, width]`.
    pub states: &'a [f32],
}

impl SoftView<'_> {
    /// Returns the nats from every state of the graph to each row of `[n, width]`, or from each row
    /// to every state.
    fn between(&self, direction: Direction, rows: &[f32]) -> Vec<f32> {
        let latent = self.search.graph.latent.as_ref();
        latent.and_then(|latent| latent.between(self.distance, direction, rows)).unwrap_or_else(|| {
            let (from, to) = direction.ordered(rows, self.states);
            self.distance.all_pairs_nats(from, to)
        })
    }

    fn trees(&self, goals: &[f32]) -> Vec<Arc<Mutex<GrowingTree>>> {
        let width = self.distance.width();
        self.search.trees.get(goals, width, |goals| {
            let (nats, n) = (self.between(Direction::To, goals), goals.len() / width);
            let straight = |goal: usize| nats.iter().skip(goal).step_by(n).copied();
            let tree = |goal| Mutex::new(self.search.graph.to_goal(straight(goal)));
            (0..n).into_par_iter().map(tree).collect()
        })
    }

    /// Returns the states of the graph on the path from each row of `from` to the same row of
    /// `goals`.
    pub fn nodes(&self, from: &[f32], goals: &[f32]) -> Vec<Vec<u32>> {
        let (trees, reach) = (self.trees(goals), self.between(Direction::From, from));
        let straight = self.distance.paired_nats(from, goals);
        let n = self.states.len() / self.distance.width();
        let path = |row: usize| {
            // Nothing inside waits for another thread.
            let mut tree = trees[row].lock().expect("no thread panics while holding it");
            self.search.graph.path(&reach[row * n..][..n], straight[row], &mut tree)
        };
        (0..trees.len()).into_par_iter().map(path).collect()
    }
}

impl Paths for SoftView<'_> {
    fn paths(&self, from: &[f32], goals: &[f32]) -> Vec<Vec<f32>> {
        let width = self.distance.width();
        let state = |node: &u32| &self.states[*node as usize * width..][..width];
        let nodes = self.nodes(from, goals).into_iter().zip(goals.chunks_exact(width));
        nodes.map(|(nodes, goal)| nodes.iter().flat_map(state).chain(goal).copied().collect()).collect()
    }

    fn distance(&self) -> &dyn TemporalDistance {
        self.distance
    }

    fn edge_scale_nats(&self) -> f32 {
        self.search.graph.price.scale
    }
}
