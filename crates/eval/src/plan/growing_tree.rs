//! Shortest paths to a goal, found in the order of their costs and only as far as they are needed.

use super::shortest::EdgesInto;
use std::{cmp::Reverse, collections::BinaryHeap};

/// The order of edges by cost, then by state.
pub(super) fn by_cost(left: &(u32, f32), right: &(u32, f32)) -> std::cmp::Ordering {
    left.1.total_cmp(&right.1).then(left.0.cmp(&right.0))
}

/// The shortest paths to one goal from the states nearest to it.
///
/// The edges into every state are sorted [by cost](by_cost). Of each state, only as many are
/// compared as have to be: where every state has hundreds, most of them lead to states whose path
/// is known already. Spira (1973).
pub(super) struct GrowingTree {
    /// The edges to the goal, sorted by cost.
    direct: Vec<(u32, f32)>,
    /// The states whose paths are known, nearest first, and the costs of these paths.
    nearest: Vec<(u32, f32)>,
    /// The cost from every state; infinite if it is not known.
    cost: Vec<f32>,
    /// The next state on the path of every state; [`GOAL`](Self::GOAL) if it is the goal, or not
    /// known.
    next: Vec<u32>,
    open: BinaryHeap<Reverse<OpenEdge>>,
}

/// The cheapest edge into `to` from a state whose path was not known when this edge was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OpenEdge {
    /// The bits of the cost of the path over this edge: floats that are not negative sort like
    /// their bits.
    bits: u32,
    from: u32,
    /// A state with a known path, or the goal.
    to: u32,
    /// The place of the edge among those into `to`.
    place: u32,
}

impl GrowingTree {
    /// The goal itself, which is not a state of the graph.
    pub const GOAL: u32 = u32::MAX;
    /// The number of 32-bit values of a tree per state of the graph.
    pub const VALUES_PER_STATE: usize = 10;

    /// Creates a tree in which no path is known. `cost[state]` is the cost of the edge from a state
    /// to the goal; infinite without this edge.
    pub fn new(cost: impl Iterator<Item = f32>) -> Self {
        let costs: Vec<f32> = cost.collect();
        let n = costs.len();
        let edges = (0..n as u32).zip(costs).filter(|(_, cost)| cost.is_finite());
        let mut direct: Vec<(u32, f32)> = edges.collect();
        direct.sort_unstable_by(by_cost);
        let (cost, next) = (vec![f32::INFINITY; n], vec![Self::GOAL; n]);
        let mut tree = Self { direct, nearest: Vec::new(), cost, next, open: BinaryHeap::new() };
        tree.open_edge(&[], Self::GOAL, 0);
        tree
    }

    /// Returns the state with the `rank`-th cheapest path to the goal and the cost of this path;
    /// `None` if fewer states have one.
    pub fn nearest(&mut self, into: &EdgesInto, rank: usize) -> Option<(u32, f32)> {
        while self.nearest.len() <= rank {
            let Reverse(OpenEdge { bits, from, to, place }) = self.open.pop()?;
            if self.cost[from as usize].is_infinite() {
                let cost = f32::from_bits(bits);
                (self.cost[from as usize], self.next[from as usize]) = (cost, to);
                self.nearest.push((from, cost));
                self.open_edge(into, from, 0);
            }
            self.open_edge(into, to, place + 1);
        }
        Some(self.nearest[rank])
    }

    /// Adds the cheapest edge into `to` from a state whose path is not known, among those from the
    /// place `first` on.
    fn open_edge(&mut self, into: &[Vec<(u32, f32)>], to: u32, first: u32) {
        let (edges, cost_of_to) = match to {
            Self::GOAL => (&self.direct, 0.0),
            to => (&into[to as usize], self.cost[to as usize]),
        };
        let mut edges = (first..).zip(&edges[first as usize..]);
        let unknown = edges.find(|(_, (from, _))| self.cost[*from as usize].is_infinite());
        let Some((place, &(from, edge))) = unknown else { return };
        let cost = cost_of_to + edge;
        // A sum that overflows is no path.
        if cost.is_finite() {
            self.open.push(Reverse(OpenEdge { bits: cost.to_bits(), from, to, place }));
        }
    }

    /// Returns the states on the path from a state whose path is known, which is the first, to the
    /// goal, which is not among them.
    pub fn path(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let after = |state: &u32| Some(self.next[*state as usize]).filter(|next| *next != Self::GOAL);
        std::iter::successors(Some(first), after)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::shortest::costs_to_goal, *};
    use isochrone_core::rng;

    /// A tree has the costs of Dijkstra's algorithm, and paths of these costs, with missing edges,
    /// equal costs, and states without a path; however far it has grown before.
    #[test]
    fn a_tree_has_the_costs_of_dijkstra() {
        let mut without_path = 0;
        for seed in 0..20 {
            let mut random = rng::stream(seed, 0);
            let n = 60;
            let mut edge = |share: f64| {
                let is_there = rng::unit_f64(&mut random) < share;
                is_there.then(|| (rng::unit_f64(&mut random) * 8.0).floor() as f32)
            };
            let mut into: EdgesInto =
                (0..n).map(|_| (0..n).filter_map(|from| Some((from, edge(0.05)?))).collect()).collect();
            let direct: Vec<f32> = (0..n).map(|_| edge(0.04).unwrap_or(f32::INFINITY)).collect();
            let expected = costs_to_goal(&into, direct.clone());
            into.iter_mut().for_each(|edges| edges.sort_unstable_by(by_cost));

            let mut tree = GrowingTree::new(direct.iter().copied());
            let fifth = tree.nearest(&into, 5);
            let nearest: Vec<_> = (0..).map_while(|rank| tree.nearest(&into, rank)).collect();
            assert_eq!(fifth, nearest.get(5).copied());
            assert!(nearest.is_sorted_by(|left, right| left.1 <= right.1));
            assert_eq!(tree.cost, expected);
            let finite = expected.iter().filter(|cost| cost.is_finite()).count();
            assert_eq!(nearest.len(), finite);
            without_path += expected.len() - finite;
            for (first, known) in nearest {
                let path: Vec<u32> = tree.path(first).collect();
                let length = |pair: &[u32]| {
                    let edges = &into[pair[1] as usize];
                    edges.iter().find(|(from, _)| *from == pair[0]).expect("an edge of the path").1
                };
                let last = *path.last().unwrap() as usize;
                let cost = direct[last] + path.windows(2).map(length).sum::<f32>();
                assert_eq!((cost, cost), (known, expected[first as usize]));
            }
        }
        assert!(without_path > 0);
    }
}
