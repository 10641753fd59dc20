//! Shortest paths to a goal by Dijkstra's algorithm.

use std::{cmp::Reverse, collections::BinaryHeap};

/// The order of edges by cost, then by state.
pub(super) fn by_cost(left: &(u32, f32), right: &(u32, f32)) -> std::cmp::Ordering {
    left.1.total_cmp(&right.1).then(left.0.cmp(&right.0))
}

/// For every state, the states with an edge to it and the costs of these edges, not negative.
pub(super) type EdgesInto = Vec<Vec<(u32, f32)>>;

/// The shortest paths from all states to one goal.
pub(super) struct Tree {
    /// The cost from every state; infinite without a path.
    pub cost: Vec<f32>,
    /// The next state on the path of every state; [`Tree::GOAL`] if it is the goal, or without a
    /// path.
    pub next: Vec<u32>,
}

impl Tree {
    /// The goal itself, which is not a state of the graph.
    pub const GOAL: u32 = u32::MAX;

    /// Finds the shortest paths. `cost[state]` is the cost of the edge from a state to the goal;
    /// infinite without this edge.
    pub fn new(into: &[Vec<(u32, f32)>], mut cost: Vec<f32>) -> Self {
        let mut next = vec![Self::GOAL; cost.len()];
        // Floats that are not negative sort like their bits.
        let mut open: BinaryHeap<Reverse<(u32, u32)>> = (0..cost.len() as u32)
            .filter(|&state| cost[state as usize].is_finite())
            .map(|state| Reverse((cost[state as usize].to_bits(), state)))
            .collect();
        while let Some(Reverse((bits, state))) = open.pop() {
            let here = f32::from_bits(bits);
            if here > cost[state as usize] {
                continue;
            }
            for &(from, edge) in &into[state as usize] {
                let through = here + edge;
                if through < cost[from as usize] {
                    cost[from as usize] = through;
                    next[from as usize] = state;
                    open.push(Reverse((through.to_bits(), from)));
                }
            }
        }
        Self { cost, next }
    }

    /// Finds the same paths if the edges into every state are sorted [by cost](by_cost). Of each
    /// state, only as many edges are compared as have to be: where every state has hundreds, most
    /// of them lead to states whose path is known already. Spira (1973).
    pub fn of_sorted(into: &[Vec<(u32, f32)>], cost: &[f32]) -> Self {
        let n = cost.len();
        let mut direct: Vec<(u32, f32)> =
            (0..n as u32).zip(cost.iter().copied()).filter(|(_, cost)| cost.is_finite()).collect();
        direct.sort_unstable_by(by_cost);
        let mut tree = Self { cost: vec![f32::INFINITY; n], next: vec![Self::GOAL; n] };
        let mut is_known = vec![false; n];
        // The cheapest edge from an unknown state into every known one, with its place among the
        // edges into it.
        let mut open: BinaryHeap<Reverse<(u32, u32, u32, u32)>> = BinaryHeap::with_capacity(n);
        let edges_into = |to: u32| if to == Self::GOAL { &direct[..] } else { &into[to as usize][..] };
        let propose = |to: u32, cost_of_to: f32, first: u32, is_known: &[bool]| {
            let unknown = |(from, _): &(u32, f32)| !is_known[*from as usize];
            let edges = &edges_into(to)[first as usize..];
            let place = edges.iter().position(unknown)?;
            let (from, edge) = edges[place];
            Some(Reverse(((cost_of_to + edge).to_bits(), from, to, first + place as u32)))
        };
        open.extend(propose(Self::GOAL, 0.0, 0, &is_known));
        // Floats that are not negative sort like their bits.
        while let Some(Reverse((bits, from, to, place))) = open.pop() {
            if !std::mem::replace(&mut is_known[from as usize], true) {
                (tree.cost[from as usize], tree.next[from as usize]) = (f32::from_bits(bits), to);
                open.extend(propose(from, f32::from_bits(bits), 0, &is_known));
            }
            let cost_of_to = if to == Self::GOAL { 0.0 } else { tree.cost[to as usize] };
            open.extend(propose(to, cost_of_to, place + 1, &is_known));
        }
        tree
    }

    /// Returns the states on the path from a state, which is the first, to the goal, which is not
    /// among them.
    pub fn path(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let after = |state: &u32| Some(self.next[*state as usize]).filter(|next| *next != Self::GOAL);
        std::iter::successors(Some(first), after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::rng;

    /// Both searches find the same costs, and paths of these costs, with missing edges and states
    /// without a path.
    #[test]
    fn sorted_edges_give_the_same_costs() {
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
            let expected = Tree::new(&into, direct.clone());
            into.iter_mut().for_each(|edges| edges.sort_unstable_by(by_cost));
            let found = Tree::of_sorted(&into, &direct);
            assert_eq!(found.cost, expected.cost);
            without_path += found.cost.iter().filter(|cost| cost.is_infinite()).count();
            for first in (0..n).filter(|state| found.cost[*state as usize].is_finite()) {
                let path: Vec<u32> = found.path(first).collect();
                let length = |pair: &[u32]| {
                    let edges = &into[pair[1] as usize];
                    edges.iter().find(|(from, _)| *from == pair[0]).expect("an edge of the path").1
                };
                let last = *path.last().unwrap() as usize;
                let cost = direct[last] + path.windows(2).map(length).sum::<f32>();
                assert_eq!(cost, found.cost[first as usize]);
            }
        }
        assert!(without_path > 0);
    }
}
