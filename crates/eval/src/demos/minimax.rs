//! Paths whose largest hop is smallest.

/// For every node, the smallest possible largest hop on a path to a goal, and the next node.
pub(super) struct Minimax {
    pub bottleneck: Vec<f32>,
    next: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl Minimax {
    /// Searches paths to `goals` over `hops`, `[to, from]`. Following an episode, from a node to
    /// the next one where `is_followed`, costs nothing. Nodes that are not `is_allowed` are not
    /// used.
    pub fn to_goals(
        hops: &[f32],
        is_followed: &dyn Fn(usize) -> bool,
        is_allowed: &dyn Fn(usize) -> bool,
        goals: &[usize],
    ) -> Self {
        let n = (hops.len() as f64).sqrt().round() as usize;
        let (mut bottleneck, mut next) = (vec![f32::INFINITY; n], vec![NONE; n]);
        let mut is_done: Vec<bool> = (0..n).map(|node| !is_allowed(node)).collect();
        goals.iter().for_each(|goal| bottleneck[*goal] = 0.0);
        let mut nearest = goals.iter().copied().find(|goal| !is_done[*goal]);
        while let Some(node) = nearest {
            is_done[node] = true;
            let to_node = bottleneck[node];
            if let Some(before) = node.checked_sub(1)
                && !is_done[before]
                && is_followed(before)
                && to_node < bottleneck[before]
            {
                (bottleneck[before], next[before]) = (to_node, node);
            }
            nearest = None;
            let mut smallest = f32::INFINITY;
            for (before, hop) in hops[node * n..][..n].iter().enumerate() {
                if is_done[before] {
                    continue;
                }
                let largest = hop.max(to_node);
                if largest < bottleneck[before] {
                    (bottleneck[before], next[before]) = (largest, node);
                }
                if bottleneck[before] < smallest {
                    (smallest, nearest) = (bottleneck[before], Some(before));
                }
            }
        }
        Self { bottleneck, next }
    }

    /// Returns the largest hop on the path from a node: its ends.
    pub fn largest_hop(
        &self,
        hops: &[f32],
        is_followed: &dyn Fn(usize) -> bool,
        from: usize,
    ) -> Option<(usize, usize)> {
        let n = self.next.len();
        let (mut node, mut largest) = (from, None);
        while self.next[node] != NONE {
            let to = self.next[node];
            let is_free = node + 1 == to && is_followed(node);
            let hop = if is_free { 0.0 } else { hops[to * n + node] };
            if !is_free && largest.is_none_or(|(size, _)| hop > size) {
                largest = Some((hop, (node, to)));
            }
            node = to;
        }
        largest.map(|(_, ends)| ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_hop_is_smallest_and_episodes_are_free() {
        // Episodes 0-1 and 2-3, and a single state 4 from which the goal is one hop away.
        let mut hops = [f32::INFINITY; 25];
        let mut set = |from: usize, to: usize, hop: f32| hops[to * 5 + from] = hop;
        set(0, 2, 9.0);
        set(1, 2, 3.0);
        set(1, 3, 8.0);
        set(3, 4, 2.0);
        set(1, 4, 5.0);
        let follows = |node: usize| node == 0 || node == 2;
        let found = Minimax::to_goals(&hops, &follows, &|_| true, &[4]);
        assert_eq!(found.bottleneck, [3.0, 3.0, 2.0, 2.0, 0.0]);
        assert_eq!(found.largest_hop(&hops, &follows, 0), Some((1, 2)));
        let without = Minimax::to_goals(&hops, &follows, &|node| node < 2 || node == 4, &[4]);
        assert_eq!(without.bottleneck[0], 5.0);
        assert!(without.bottleneck[2].is_infinite());
    }
}
