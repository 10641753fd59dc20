//! A complete graph over dataset states, in which long edges are expensive.
//!
//! A learned distance is inaccurate between distant states. If long edges were missing, many pairs
//! of states would have no path. They cost far more than their length instead, so that a path
//! always exists and has a long edge only where the states in between are missing.

use super::{
    growing_tree::{GrowingTree, by_cost},
    latent_states::LatentStates,
    shortest::EdgesInto,
};
use isochrone_core::TemporalDistance;
use rayon::prelude::*;

/// A complete graph over dataset states without the edges that no shortest path has.
pub(super) struct SoftGraph {
    pub price: EdgePrice,
    /// Sorted by cost.
    into: EdgesInto,
    /// The latent rows of the states, if the distance compares latent rows.
    pub latent: Option<LatentStates>,
}

/// The cost of an edge, in nats.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgePrice {
    /// The edge length, in nats, up to which an edge costs its length.
    pub scale: f32,
}

impl EdgePrice {
    /// Returns the cost of an edge: its length `d` up to the scale, and `d (d / scale)^4` beyond
    /// it; an edge of two scales costs as much as 32 edges of one. Negative lengths count as zero,
    /// NaN as infinite.
    pub fn of(self, nats: f32) -> f32 {
        let scales = nats / self.scale;
        // Comparisons with NaN are false.
        if scales <= 1.0 {
            nats.max(0.0)
        } else if scales > 1.0 {
            nats * (scales * scales) * (scales * scales)
        } else {
            f32::INFINITY
        }
    }
}

/// The number of goals per call of the distance while all pairs are compared.
const COLUMNS: usize = 512;
/// The number of intermediate states that are tried for each state in the search for edges that no
/// shortest path has.
const INTERMEDIATE: usize = 32;

impl SoftGraph {
    /// Creates the graph. It compares all pairs of states, `[n, width]`, and needs `4 n^2` bytes
    /// while doing so.
    pub fn new(distance: &dyn TemporalDistance, states: &[f32], scale: f32) -> Self {
        let price = EdgePrice { scale };
        let latent = LatentStates::of(distance, states);
        let into = needed_edges(&costs_into(distance, latent.as_ref(), states, price), price);
        Self { price, into, latent }
    }

    /// Returns the shortest paths to a goal, of which none is known yet. `straight[state]` is the
    /// distance to it in nats.
    pub fn to_goal(&self, straight: impl Iterator<Item = f32>) -> GrowingTree {
        GrowingTree::new(straight.map(|nats| self.price.of(nats)))
    }

    /// Returns the states on the shortest path from a state that is `reach[node]` nats from every
    /// node and `straight` nats from the goal. It is empty if the path is the edge to the goal.
    /// Among equally short paths, it is the edge to the goal, or that through the first node.
    ///
    /// The tree grows to the nodes that are nearer to the goal than the state is. How far it has
    /// grown before does not change the path.
    pub fn path(&self, reach: &[f32], straight: f32, tree: &mut GrowingTree) -> Vec<u32> {
        let mut best = (self.price.of(straight), GrowingTree::GOAL);
        for rank in 0.. {
            let nearest = tree.nearest(&self.into, rank);
            let Some((node, cost)) = nearest.filter(|(_, cost)| *cost <= best.0) else { break };
            let through = self.price.of(reach[node as usize]) + cost;
            let is_tie = through == best.0 && best.1 != GrowingTree::GOAL;
            if through < best.0 || (is_tie && node < best.1) {
                best = (through, node);
            }
        }
        if best.1 == GrowingTree::GOAL { Vec::new() } else { tree.path(best.1).collect() }
    }
}

/// Returns the costs of the edges between all pairs, `[to, from]`; infinite from a state to itself.
fn costs_into(
    distance: &dyn TemporalDistance,
    latent: Option<&LatentStates>,
    states: &[f32],
    price: EdgePrice,
) -> Vec<f32> {
    let (n, width) = (states.len() / distance.width(), distance.width());
    let mut costs = vec![0.0; n * n];
    for (first, block) in (0..n).step_by(COLUMNS).zip(costs.chunks_mut(COLUMNS * n)) {
        let columns = block.len() / n;
        let nats = match latent {
            Some(LatentStates { metric, rows }) => {
                let width = metric.width();
                metric.all_pairs_nats(rows, &rows[first * width..][..columns * width])
            }
            None => distance.all_pairs_nats(states, &states[first * width..][..columns * width]),
        };
        block.par_chunks_exact_mut(n).enumerate().for_each(|(column, into)| {
            for (from, cost) in into.iter_mut().enumerate() {
                *cost = price.of(nats[from * columns + column]);
            }
            into[first + column] = f32::INFINITY;
        });
    }
    costs
}

/// Returns the edges without those that are more expensive than a path of two edges, which no
/// shortest path has, sorted by cost. Not all such edges are found; of the long ones, few remain.
fn needed_edges(costs: &[f32], price: EdgePrice) -> EdgesInto {
    let n = costs.len().isqrt();
    let row = |to: usize| &costs[to * n..][..n];
    let edges_into = |to: usize| {
        let direct = row(to);
        let mut near: Vec<usize> = (0..n).filter(|&from| direct[from] <= price.scale).collect();
        if near.len() < INTERMEDIATE {
            near = (0..n).filter(|&from| direct[from].is_finite()).collect();
            if near.len() > INTERMEDIATE {
                let by_cost = |a: &usize, b: &usize| direct[*a].total_cmp(&direct[*b]).then(a.cmp(b));
                near.select_nth_unstable_by(INTERMEDIATE - 1, by_cost);
                near.truncate(INTERMEDIATE);
            }
        }
        let mut over_two = vec![f32::INFINITY; n];
        for pick in 0..near.len().min(INTERMEDIATE) {
            let via = near[pick * near.len() / near.len().min(INTERMEDIATE)];
            let last = direct[via];
            for (over_two, first) in over_two.iter_mut().zip(row(via)) {
                let cost = first + last;
                *over_two = if cost < *over_two { cost } else { *over_two };
            }
        }
        let is_needed = |from: &usize| direct[*from].is_finite() && direct[*from] <= over_two[*from];
        let mut edges: Vec<(u32, f32)> =
            (0..n).filter(is_needed).map(|from| (from as u32, direct[from])).collect();
        edges.sort_unstable_by(by_cost);
        edges
    };
    (0..n).into_par_iter().map(edges_into).collect()
}
