//! Reverse breadth-first search: the states that can reach a goal, and the order to solve them in.

use super::mdp::TabularMdp;

/// The reverse transition graph of a process: for each state, the other states that can reach it in
/// one step.
#[derive(Debug)]
pub(super) struct Predecessors {
    ptr: Vec<u32>,
    states: Vec<u32>,
}

impl Predecessors {
    pub(super) fn new(mdp: &TabularMdp) -> Self {
        let n_states = mdp.n_states();
        let mut ptr = vec![0u32; n_states + 1];
        for_each_distinct_edge(mdp, |_, to| ptr[to + 1] += 1);
        for state in 0..n_states {
            ptr[state + 1] += ptr[state];
        }
        let mut next = ptr.clone();
        let mut states = vec![0u32; ptr[n_states] as usize];
        for_each_distinct_edge(mdp, |from, to| {
            states[next[to] as usize] = from as u32;
            next[to] += 1;
        });
        Self { ptr, states }
    }

    pub(super) fn of(&self, state: usize) -> &[u32] {
        &self.states[self.ptr[state] as usize..self.ptr[state + 1] as usize]
    }

    /// Searches breadth-first against the transitions from a set of goals (distinct, in range).
    pub(super) fn search_from(&self, goals: &[usize]) -> ReverseSearch {
        let n_states = self.ptr.len() - 1;
        let mut position = vec![ReverseSearch::UNREACHABLE; n_states];
        let mut order: Vec<u32> = Vec::with_capacity(n_states);
        let mut layer_ends = Vec::new();
        for &goal in goals {
            position[goal] = order.len() as u32;
            order.push(goal as u32);
        }
        let mut layer = 0..order.len();
        while !layer.is_empty() {
            layer_ends.push(layer.end as u32);
            for index in layer.clone() {
                for &from in self.of(order[index] as usize) {
                    let slot = &mut position[from as usize];
                    if *slot == ReverseSearch::UNREACHABLE {
                        *slot = order.len() as u32;
                        order.push(from);
                    }
                }
            }
            layer = layer.end..order.len();
        }
        ReverseSearch { order, position, layer_ends }
    }
}

/// States ordered by the minimum number of transitions in which they can reach the goals.
#[derive(Debug)]
pub(super) struct ReverseSearch {
    /// States that can reach a goal, nearest first, goals at the front.
    pub(super) order: Vec<u32>,
    /// The index of each state in `order`, or [`Self::UNREACHABLE`].
    pub(super) position: Vec<u32>,
    /// The first `layer_ends[k]` states of `order` are at most `k` transitions from the goals.
    pub(super) layer_ends: Vec<u32>,
}

impl ReverseSearch {
    pub(super) const UNREACHABLE: u32 = u32::MAX;
}

/// Calls `visit(from, to)` once for each pair of different states with a transition between them.
fn for_each_distinct_edge(mdp: &TabularMdp, mut visit: impl FnMut(usize, usize)) {
    // `seen_by[to]` is the last state whose edge to `to` was visited; it removes duplicates across
    // actions.
    let mut seen_by = vec![u32::MAX; mdp.n_states()];
    for from in 0..mdp.n_states() {
        seen_by[from] = from as u32;
        for row in mdp.rows(from) {
            for &to in row.successors {
                if seen_by[to as usize] != from as u32 {
                    seen_by[to as usize] = from as u32;
                    visit(from, to as usize);
                }
            }
        }
    }
}
