//! Lengths of shortest paths to a goal by Dijkstra's algorithm.

use std::{cmp::Reverse, collections::BinaryHeap};

/// For every state, the states with an edge to it and the costs of these edges, not negative.
pub(super) type EdgesInto = Vec<Vec<(u32, f32)>>;

/// Returns the cost of the shortest path from every state to a goal; infinite without a path.
/// `cost[state]` is the cost of the edge from a state to the goal; infinite without this edge.
pub(super) fn costs_to_goal(into: &[Vec<(u32, f32)>], mut cost: Vec<f32>) -> Vec<f32> {
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
                open.push(Reverse((through.to_bits(), from)));
            }
        }
    }
    cost
}
