//! Shortest paths along recorded segments.

use super::{
    detours::without_detours,
    edges::Edge,
    rows::apart,
    search::{EdgesInto, NONE, Search},
};
use rayon::prelude::*;

/// Landmarks and the edges between them, with the coordinates of the first and last rows of edges.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Graph {
    pub width: usize,
    /// `[landmarks, width]`
    pub landmarks: Vec<f32>,
    /// Edges ordered by end landmark.
    pub edges: Vec<Edge>,
    /// For every landmark, the index of the first edge that ends there, and the number of edges.
    pub first_into: Vec<usize>,
    /// The start landmark and the cost of every edge: all that a search needs.
    pub into: Vec<(u32, f32)>,
    /// For every landmark, whether an edge starts there.
    has_edge_from: Vec<bool>,
    /// For every edge, its first and its last row: `[edges, 2, width]`
    pub ends: Vec<f32>,
}

impl Graph {
    /// Creates the graph from landmarks, `[n, width]`, and edges ordered by start and end landmark.
    /// `ends_of` returns the first and the last row of an edge.
    pub fn new<'a>(
        landmarks: Vec<f32>,
        width: usize,
        edges: Vec<Edge>,
        ends_of: impl Fn(&Edge) -> [&'a [f32]; 2],
    ) -> Self {
        let n = landmarks.len() / width;
        let mut edges = without_detours(n, edges);
        edges.sort_unstable_by_key(|edge| (edge.to, edge.from));
        let ends = edges.iter().flat_map(ends_of).flatten().copied().collect();
        let first_into = (0..=n).map(|to| edges.partition_point(|edge| (edge.to as usize) < to)).collect();
        let into = edges.iter().map(|edge| (edge.from, edge.cost)).collect();
        let mut has_edge_from = vec![false; n];
        edges.iter().for_each(|edge| has_edge_from[edge.from as usize] = true);
        Self { width, landmarks, edges, first_into, into, has_edge_from, ends }
    }

    pub fn n_landmarks(&self) -> usize {
        self.first_into.len() - 1
    }

    pub fn landmark(&self, landmark: usize) -> &[f32] {
        &self.landmarks[landmark * self.width..][..self.width]
    }

    /// Returns whether an edge starts at a landmark.
    pub fn has_edge_from(&self, landmark: u32) -> bool {
        self.has_edge_from[landmark as usize]
    }

    /// Returns whether an edge ends at a landmark.
    pub fn has_edge_to(&self, landmark: u32) -> bool {
        self.first_into[landmark as usize] < self.first_into[landmark as usize + 1]
    }

    /// Returns the first (`end` = 0) or the last row (`end` = 1) of an edge.
    pub fn end(&self, edge: usize, end: usize) -> &[f32] {
        &self.ends[(2 * edge + end) * self.width..][..self.width]
    }

    /// Returns the steps from every landmark to the goal of a search; infinite if there is no path.
    pub fn steps(&self, search: &mut Search) -> Vec<f32> {
        let mut steps = vec![f32::INFINITY; self.n_landmarks()];
        self.write_steps(search, &mut steps);
        steps
    }

    /// Writes the steps from every landmark with a path to the goal of a search.
    ///
    /// The search uses edge costs, in which hops lead through landmarks. The length of a path then
    /// uses the direct hop from the last row of an edge to the first row of the next, which is at
    /// most as long.
    fn write_steps(&self, search: &mut Search, steps: &mut [f32]) {
        let Search { first_edges, order, costs, .. } = search;
        // The costs are no longer needed: from here on, the steps from the first row of the path's
        // first edge at each landmark.
        let from_row = costs;
        let goal = order[0] as usize;
        (steps[goal], from_row[goal]) = (0.0, 0.0);
        for &landmark in &order[1..] {
            let edge = first_edges[landmark as usize] as usize;
            let Edge { to, lag, .. } = self.edges[edge];
            let leaves = match first_edges[to as usize] {
                NONE => self.landmark(to as usize),
                edge => self.end(edge as usize, 0),
            };
            let rest = lag as f32 + apart(self.end(edge, 1), leaves) + from_row[to as usize];
            from_row[landmark as usize] = rest;
            steps[landmark as usize] = apart(self.landmark(landmark as usize), self.end(edge, 0)) + rest;
        }
    }

    /// Returns the edges of the shortest path from one landmark to another; the path must exist.
    pub fn path<'a>(
        first_edges: &'a [u32],
        edges: &'a [Edge],
        from: u32,
        goal: u32,
    ) -> impl Iterator<Item = usize> + 'a {
        let mut here = from;
        std::iter::from_fn(move || {
            let edge = (here != goal).then(|| first_edges[here as usize] as usize)?;
            here = edges[edge].to;
            Some(edge)
        })
    }

    fn edges_into(&self) -> EdgesInto<'_> {
        EdgesInto { first_into: &self.first_into, into: &self.into }
    }

    /// Searches for the shortest paths from all landmarks to a goal landmark.
    pub fn search(&self, goal: usize) -> Search {
        let mut search = Search::default();
        search.run(self.edges_into(), goal);
        search
    }

    /// Returns the steps between all pairs of landmarks, `[to, from]`.
    pub fn table(&self) -> Vec<f32> {
        let n = self.n_landmarks();
        let mut table = vec![f32::INFINITY; n * n];
        let row = |search: &mut Search, (goal, steps): (usize, &mut [f32])| {
            search.run(self.edges_into(), goal);
            self.write_steps(search, steps);
        };
        table.par_chunks_exact_mut(n).enumerate().for_each_init(Search::default, row);
        table
    }
}
