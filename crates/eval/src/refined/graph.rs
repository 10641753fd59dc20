//! Shortest paths along recorded segments.

use super::{edges::Edge, rows::apart};
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
    into: Vec<(u32, f32)>,
    /// The largest number of edges that end at a landmark.
    most_into: usize,
    /// For every landmark, whether an edge starts there.
    has_edge_from: Vec<bool>,
    /// For every edge, its first and its last row: `[edges, 2, width]`
    pub ends: Vec<f32>,
}

/// No edge.
pub(super) const NONE: u32 = u32::MAX;

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
        let first_into: Vec<usize> =
            (0..=n).map(|to| edges.partition_point(|edge| (edge.to as usize) < to)).collect();
        let most_into = first_into.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let into = edges.iter().map(|edge| (edge.from, edge.cost)).collect();
        let mut has_edge_from = vec![false; n];
        edges.iter().for_each(|edge| has_edge_from[edge.from as usize] = true);
        Self { width, landmarks, edges, first_into, into, most_into, has_edge_from, ends }
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

    /// Returns the steps from every landmark to a goal landmark; infinite if there is no path.
    ///
    /// The search uses edge costs, in which hops lead through landmarks. The length of a path then
    /// uses the direct hop from the last row of an edge to the first row of the next, which is at
    /// most as long.
    pub fn to_goal(&self, goal: usize) -> Vec<f32> {
        let (first_edges, order) = self.search(goal);
        let mut steps = vec![f32::INFINITY; self.n_landmarks()];
        // Steps from the first row of the path's first edge at each landmark.
        let mut from_row = steps.clone();
        (steps[goal], from_row[goal]) = (0.0, 0.0);
        for &landmark in &order[1..] {
            let edge = first_edges[landmark as usize] as usize;
            let next = self.edges[edge].to as usize;
            let leaves = match first_edges[next] {
                NONE => self.landmark(next),
                edge => self.end(edge as usize, 0),
            };
            let rest = self.edges[edge].lag as f32 + apart(self.end(edge, 1), leaves) + from_row[next];
            from_row[landmark as usize] = rest;
            steps[landmark as usize] = apart(self.landmark(landmark as usize), self.end(edge, 0)) + rest;
        }
        steps
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

    /// Returns the first edge of the shortest path from each landmark, and the landmarks with a
    /// path, nearest first.
    ///
    /// This is Dial's algorithm: every edge costs at least one step, so landmarks in a bucket one
    /// step wide cannot improve each other.
    pub fn search(&self, goal: usize) -> (Vec<u32>, Vec<u32>) {
        let n = self.n_landmarks();
        let (mut cost, mut first_edges) = (vec![f32::INFINITY; n], vec![NONE; n]);
        let (mut order, mut is_settled) = (Vec::with_capacity(n), vec![false; n]);
        let mut buckets = vec![vec![goal as u32]];
        let mut shorter = vec![0u32; self.most_into];
        cost[goal] = 0.0;
        let mut bucket = 0;
        while bucket < buckets.len() {
            for landmark in std::mem::take(&mut buckets[bucket]) {
                let to = landmark as usize;
                if std::mem::replace(&mut is_settled[to], true) {
                    continue;
                }
                order.push(landmark);
                let first = self.first_into[to];
                let into = &self.into[first..self.first_into[to + 1]];
                // Few edges are on shorter paths, and the processor cannot predict which: they are
                // listed without a branch.
                let (here, mut n_shorter) = (cost[to], 0);
                for (edge, &(from, edge_cost)) in into.iter().enumerate() {
                    shorter[n_shorter] = edge as u32;
                    n_shorter += usize::from(here + edge_cost < cost[from as usize]);
                }
                for &edge in &shorter[..n_shorter] {
                    let (from, edge_cost) = into[edge as usize];
                    let through = here + edge_cost;
                    if through >= cost[from as usize] {
                        continue;
                    }
                    (cost[from as usize], first_edges[from as usize]) = (through, first as u32 + edge);
                    let place = through as usize;
                    if place >= buckets.len() {
                        buckets.resize(place + 1, Vec::new());
                    }
                    buckets[place].push(from);
                }
            }
            bucket += 1;
        }
        (first_edges, order)
    }

    /// Returns the steps between all pairs of landmarks, `[to, from]`.
    pub fn table(&self) -> Vec<f32> {
        (0..self.n_landmarks()).into_par_iter().flat_map_iter(|goal| self.to_goal(goal)).collect()
    }
}

/// Removes edges that cost at least as much as two other edges in sequence: no shortest path needs
/// them. Edges are ordered by start landmark.
fn without_detours(landmarks: usize, edges: Vec<Edge>) -> Vec<Edge> {
    let (first_into, into) = cheapest_into(landmarks, &edges);
    let needed = |costs: &mut Vec<f32>, from: &[Edge]| {
        costs.resize(landmarks, f32::INFINITY);
        from.iter().for_each(|edge| costs[edge.to as usize] = edge.cost);
        let cheapest = from.iter().map(|edge| edge.cost).fold(f32::INFINITY, f32::min);
        let is_needed = |edge: &&Edge| {
            let last = &into[first_into[edge.to as usize]..first_into[edge.to as usize + 1]];
            let mut last = last.iter().take_while(|(_, cost)| cheapest + cost <= edge.cost);
            !last.any(|&(middle, cost)| costs[middle as usize] + cost <= edge.cost)
        };
        let needed: Vec<Edge> = from.iter().filter(is_needed).copied().collect();
        from.iter().for_each(|edge| costs[edge.to as usize] = f32::INFINITY);
        needed
    };
    let by_start: Vec<&[Edge]> = edges.chunk_by(|a, b| a.from == b.from).collect();
    by_start.into_par_iter().map_init(Vec::new, needed).flatten_iter().collect()
}

/// Returns the place of the first edge into each landmark, and the start and the cost of all edges,
/// by end landmark, cheapest first.
fn cheapest_into(landmarks: usize, edges: &[Edge]) -> (Vec<usize>, Vec<(u32, f32)>) {
    let mut first = vec![0; landmarks + 1];
    edges.iter().for_each(|edge| first[edge.to as usize + 1] += 1);
    for landmark in 0..landmarks {
        first[landmark + 1] += first[landmark];
    }
    let (mut next, mut into) = (first.clone(), vec![(0, 0.0); edges.len()]);
    for edge in edges {
        into[next[edge.to as usize]] = (edge.from, edge.cost);
        next[edge.to as usize] += 1;
    }
    let mut groups: Vec<&mut [(u32, f32)]> = Vec::with_capacity(landmarks);
    let mut rest = &mut into[..];
    for landmark in 0..landmarks {
        let (group, others) = rest.split_at_mut(first[landmark + 1] - first[landmark]);
        groups.push(group);
        rest = others;
    }
    groups.into_par_iter().for_each(|group| group.sort_unstable_by(|a, b| a.1.total_cmp(&b.1)));
    (first, into)
}
