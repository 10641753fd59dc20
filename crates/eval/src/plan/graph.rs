//! A graph over dataset states, with edges up to a maximum length.

use super::shortest::{EdgesInto, costs_to_goal};

/// A graph over dataset states.
pub(super) struct Graph {
    /// The maximum edge length, in nats.
    pub(super) max_edge: f32,
    /// For every state, the states with an edge to it, in order, and the edge lengths in nats.
    into: EdgesInto,
}

impl Graph {
    /// Creates the graph from distances between all pairs, `[n, n]`. Negative distances count as
    /// zero, NaN as infinite.
    pub(super) fn new(nats: &[f32], max_edge: f32) -> Self {
        let n = nats.len().isqrt();
        let edges = |to: usize| {
            let from = (0..n).filter(|&from| from != to && nats[from * n + to] <= max_edge);
            from.map(|from| (from as u32, nats[from * n + to].max(0.0))).collect()
        };
        Self { max_edge, into: (0..n).map(edges).collect() }
    }

    /// Creates the graph from edges: for every state, the states with an edge to it, in order, and
    /// lengths in nats, which are not negative.
    #[cfg(feature = "nearest")]
    pub(super) fn of_edges(into: EdgesInto, max_edge: f32) -> Self {
        Self { max_edge, into }
    }

    /// Returns the length of the shortest path from every state to a goal, by Dijkstra's algorithm
    /// from the goal; infinite if there is no path. `straight[state]` is the direct distance to the
    /// goal.
    pub(super) fn to_goal(&self, straight: &[f32]) -> Vec<f32> {
        let direct = |&nats: &f32| if nats <= self.max_edge { nats.max(0.0) } else { f32::INFINITY };
        costs_to_goal(&self.into, straight.iter().map(direct).collect())
    }

    /// Returns the next state on the shortest path, among the states within the maximum edge length
    /// of the current state; `None` if the goal itself is within it, or if there is no path. Among
    /// states on equally long paths, it is the one nearest to the goal, because a distant waypoint
    /// is easier to steer by.
    pub(super) fn next(&self, reach: &[f32], straight: f32, to_goal: &[f32]) -> Option<usize> {
        let within = reach.iter().enumerate().filter(|(_, nats)| **nats <= self.max_edge);
        self.best(within.map(|(state, nats)| (state, nats.max(0.0))).collect(), straight, to_goal)
    }

    /// Returns what [`next`](Self::next) does for a state of the graph, along its edges.
    pub(super) fn next_from(&self, state: usize, straight: f32, to_goal: &[f32]) -> Option<usize> {
        let edge = |(to, into): (usize, &Vec<(u32, f32)>)| {
            let place = into.binary_search_by_key(&(state as u32), |(from, _)| *from).ok()?;
            Some((to, into[place].1))
        };
        self.best(self.into.iter().enumerate().filter_map(edge).collect(), straight, to_goal)
    }

    /// Returns the best of some next states with their lengths in nats.
    fn best(&self, mut within: Vec<(usize, f32)>, straight: f32, to_goal: &[f32]) -> Option<usize> {
        if straight <= self.max_edge {
            return None;
        }
        within.retain(|(state, _)| to_goal[*state].is_finite());
        let through = |&(state, nats): &(usize, f32)| nats + to_goal[state];
        let best = within.iter().map(through).fold(f32::INFINITY, f32::min);
        // A learned distance is not precise enough to rank these.
        let as_good = within.iter().filter(|state| through(state) <= best * (1.0 + SLACK));
        as_good.map(|(state, _)| *state).min_by(|&a, &b| to_goal[a].total_cmp(&to_goal[b]))
    }
}

/// The relative excess length up to which paths count as equally long.
const SLACK: f32 = 0.02;
