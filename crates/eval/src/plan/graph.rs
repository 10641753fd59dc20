//! Recorded states as a graph: an edge where one is at most so far from the other.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Edges against their direction: the states that lead to a state, and how far they are, in nats.
pub(super) struct Graph {
    /// The longest edge, in nats.
    pub(super) max_edge: f32,
    into: Vec<Vec<(u32, f32)>>,
}

impl Graph {
    /// From distances between all pairs, `[n, n]`. Distances that are negative count as zero, those that are no numbers as infinite.
    pub(super) fn new(nats: &[f32], max_edge: f32) -> Self {
        let n = nats.len().isqrt();
        let edges = |to: usize| {
            let from = (0..n).filter(|&from| from != to && nats[from * n + to] <= max_edge);
            from.map(|from| (from as u32, nats[from * n + to].max(0.0))).collect()
        };
        Self { max_edge, into: (0..n).map(edges).collect() }
    }

    /// The length of the shortest path from every state to a goal that is `straight[state]` from it, by Dijkstra's search from the goal; infinite where there is none.
    pub(super) fn to_goal(&self, straight: &[f32]) -> Vec<f32> {
        let direct = |&nats: &f32| if nats <= self.max_edge { nats.max(0.0) } else { f32::INFINITY };
        let mut cost: Vec<f32> = straight.iter().map(direct).collect();
        // Numbers that are not negative sort like their bits.
        let mut open: BinaryHeap<Reverse<(u32, u32)>> = (0..cost.len() as u32)
            .filter(|&state| cost[state as usize].is_finite())
            .map(|state| Reverse((cost[state as usize].to_bits(), state)))
            .collect();
        while let Some(Reverse((bits, state))) = open.pop() {
            if f32::from_bits(bits) > cost[state as usize] {
                continue;
            }
            for &(from, nats) in &self.into[state as usize] {
                let through = cost[state as usize] + nats;
                if through < cost[from as usize] {
                    cost[from as usize] = through;
                    open.push(Reverse((through.to_bits(), from)));
                }
            }
        }
        cost
    }

    /// Among the states within the longest edge, the one on the shortest path; `None` where the goal itself is within it, or there is no path. Of two on a path, the farther: it is easier to steer by.
    pub(super) fn next(&self, reach: &[f32], straight: f32, to_goal: &[f32]) -> Option<usize> {
        if straight <= self.max_edge {
            return None;
        }
        let through = |state: usize| reach[state].max(0.0) + to_goal[state];
        let within =
            (0..reach.len()).filter(|&state| reach[state] <= self.max_edge && to_goal[state].is_finite());
        let best = within.clone().map(through).fold(f32::INFINITY, f32::min);
        // A learned distance is no more precise than that.
        let as_good = within.filter(|&state| through(state) <= best * (1.0 + SLACK));
        as_good.min_by(|&a, &b| to_goal[a].total_cmp(&to_goal[b]))
    }
}

/// Paths that are longer by this share count as equally long.
const SLACK: f32 = 0.02;
