//! Shortest paths to a goal by Dijkstra's algorithm.

use std::{cmp::Reverse, collections::BinaryHeap};

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

    /// Returns the states on the path from a state, which is the first, to the goal, which is not
    /// among them.
    pub fn path(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let after = |state: &u32| Some(self.next[*state as usize]).filter(|next| *next != Self::GOAL);
        std::iter::successors(Some(first), after)
    }
}
