//! The results of a solver.

use super::{certificate::Certificate, mdp::TabularMdp, method::Method};
use crate::Discount;
use std::{cmp::Reverse, collections::BinaryHeap};

/// Distances from every state to one goal, or to the nearest of a set of goals.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalDistances {
    pub(super) discount: Discount,
    pub(super) nats: Vec<f64>,
    pub(super) policy: Vec<u32>,
    pub(super) certificate: Certificate,
    pub(super) method: Method,
}

impl GoalDistances {
    pub(super) const NO_ACTION: u32 = u32::MAX;

    /// Returns `d(state, goal)` in nats; infinite exactly if the goal cannot be reached.
    pub fn nats(&self, state: usize) -> f64 {
        self.nats[state]
    }

    /// Returns all distances in nats, by state.
    pub fn all_nats(&self) -> &[f64] {
        &self.nats
    }

    /// Converts the result into its distances in nats, by state.
    pub fn into_nats(self) -> Vec<f64> {
        self.nats
    }

    /// Returns `d(state, goal)` in effective steps.
    pub fn steps(&self, state: usize) -> f64 {
        self.discount.steps_from_nats(self.nats[state])
    }

    /// Returns the optimal action in `state`; `None` at a goal and where no goal can be reached.
    ///
    /// Ties between equally good actions are decided by rounding, identically in every run.
    pub fn action(&self, state: usize) -> Option<usize> {
        (self.policy[state] != Self::NO_ACTION).then_some(self.policy[state] as usize)
    }

    /// Returns the bound on the error of these distances.
    pub fn certificate(&self) -> Certificate {
        self.certificate
    }

    /// Returns the method that computed the distances.
    pub fn method(&self) -> Method {
        self.method
    }
}

/// Distances between all pairs of states.
#[derive(Debug, Clone, PartialEq)]
pub struct AllPairs {
    pub(super) n_states: usize,
    pub(super) discount: Discount,
    /// Column-major: `nats[goal * n_states + state]`.
    pub(super) nats: Vec<f64>,
    pub(super) certificate: Certificate,
}

impl AllPairs {
    /// Returns `d(from, to)` in nats.
    pub fn nats(&self, from: usize, to: usize) -> f64 {
        self.to_goal(to)[from]
    }

    /// Returns `d(from, to)` in effective steps.
    pub fn steps(&self, from: usize, to: usize) -> f64 {
        self.discount.steps_from_nats(self.nats(from, to))
    }

    /// Returns the distances from every state to `goal`, in nats.
    pub fn to_goal(&self, goal: usize) -> &[f64] {
        &self.nats[goal * self.n_states..][..self.n_states]
    }

    /// Returns the largest error bound of all goals.
    pub fn certificate(&self) -> Certificate {
        self.certificate
    }
}

/// Returns the most likely path from `start` to the goal under the optimal policy.
///
/// Of all outcome sequences that end at the goal, it has the largest `prod gamma P(s'|s, a)`. It is
/// the shortest path if the dynamics are deterministic, and otherwise the path that contributes
/// most to `exp(-d(start))`. Empty if the goal cannot be reached.
pub fn path_to_goal(mdp: &TabularMdp, distances: &GoalDistances, start: usize) -> Vec<usize> {
    if !distances.nats(start).is_finite() {
        return Vec::new();
    }
    // Dijkstra's algorithm with costs -ln(gamma P) > 0. The heap is ordered by cost, then by state;
    // non-negative doubles sort like their bit patterns.
    let mut came_from = vec![usize::MAX; mdp.n_states()];
    let mut cost = vec![f64::INFINITY; mdp.n_states()];
    let mut open = BinaryHeap::from([Reverse((0u64, start))]);
    cost[start] = 0.0;
    let mut end = start;
    while let Some(Reverse((bits, state))) = open.pop() {
        end = state;
        let Some(action) = distances.action(state) else { break };
        if f64::from_bits(bits) > cost[state] {
            continue;
        }
        let row = mdp.action_row(state, action).expect("the policy chooses available actions");
        for (to, p) in row.iter().filter(|&(to, _)| distances.nats(to).is_finite()) {
            let through = cost[state] + distances.discount.nats_per_step() - p.ln();
            if through < cost[to] {
                (cost[to], came_from[to]) = (through, state);
                open.push(Reverse((through.to_bits(), to)));
            }
        }
    }
    let mut path = vec![end];
    while end != start {
        end = came_from[end];
        path.push(end);
    }
    path.reverse();
    path
}
