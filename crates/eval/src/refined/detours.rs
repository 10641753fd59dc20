//! Edges that no shortest path needs.

use super::edges::Edge;
use rayon::prelude::*;

/// Removes edges that cost at least as much as two other edges in sequence: no shortest path needs
/// them. Edges are ordered by start landmark.
pub(super) fn without_detours(landmarks: usize, edges: Vec<Edge>) -> Vec<Edge> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::rng;

    /// Removes the same edges by comparing all pairs of edges in sequence.
    fn by_all_pairs(edges: &[Edge]) -> Vec<Edge> {
        let is_detour = |edge: &Edge| {
            let mut pairs = edges.iter().flat_map(|one| edges.iter().map(move |two| (one, two)));
            pairs.any(|(one, two)| {
                (one.from, one.to, two.to) == (edge.from, two.from, edge.to)
                    && one.cost + two.cost <= edge.cost
            })
        };
        edges.iter().filter(|edge| !is_detour(edge)).copied().collect()
    }

    #[test]
    fn edges_that_two_others_replace_are_removed() {
        let mut random = rng::stream(1, 0);
        for (landmarks, share, levels) in
            [(12, 0.5, 1000), (12, 0.9, 4), (20, 0.2, 8), (3, 1.0, 2), (5, 0.0, 1)]
        {
            let mut edges = Vec::new();
            for from in 0..landmarks {
                for to in (0..landmarks).filter(|to| *to != from) {
                    if rng::unit_f64(&mut random) < share {
                        // Few levels give many equal costs.
                        let cost = 1.0 + rng::below(&mut random, levels) as f32 * 5.0 / levels as f32;
                        edges.push(Edge { from, to, lag: 1, row: 0, cost });
                    }
                }
            }
            let expected = by_all_pairs(&edges);
            assert!(landmarks < 12 || expected.len() < edges.len());
            assert_eq!(without_detours(landmarks as usize, edges), expected);
        }
    }
}
