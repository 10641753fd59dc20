//! What a solver returns.

use super::{certificate::Certificate, mdp::TabularMdp, solver::Method};
use crate::Discount;

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

    /// `d(state, goal)` in nats; `+inf` exactly where the goal cannot be reached.
    pub fn nats(&self, state: usize) -> f64 {
        self.nats[state]
    }

    /// All distances in nats, by state.
    pub fn all_nats(&self) -> &[f64] {
        &self.nats
    }

    /// `d(state, goal)` in effective steps.
    pub fn steps(&self, state: usize) -> f64 {
        self.discount.steps_from_nats(self.nats[state])
    }

    /// The action to take in `state`; `None` at a goal and where no goal can be reached.
    ///
    /// Among equally good actions the one with the smallest number is taken.
    pub fn action(&self, state: usize) -> Option<usize> {
        (self.policy[state] != Self::NO_ACTION).then_some(self.policy[state] as usize)
    }

    /// The bound on the error of these distances.
    pub fn certificate(&self) -> Certificate {
        self.certificate
    }

    /// The method that computed them.
    pub fn method(&self) -> Method {
        self.method
    }
}

/// Distances between all pairs of states.
#[derive(Debug, Clone, PartialEq)]
pub struct AllPairs {
    pub(super) n_states: usize,
    pub(super) discount: Discount,
    /// Column by column: `nats[goal * n_states + state]`.
    pub(super) nats: Vec<f64>,
    pub(super) certificate: Certificate,
}

impl AllPairs {
    /// `d(from, to)` in nats.
    pub fn nats(&self, from: usize, to: usize) -> f64 {
        self.to_goal(to)[from]
    }

    /// `d(from, to)` in effective steps.
    pub fn steps(&self, from: usize, to: usize) -> f64 {
        self.discount.steps_from_nats(self.nats(from, to))
    }

    /// Distances from every state to `goal`, in nats.
    pub fn to_goal(&self, goal: usize) -> &[f64] {
        &self.nats[goal * self.n_states..][..self.n_states]
    }

    /// The bound on the error of the worst of them.
    pub fn certificate(&self) -> Certificate {
        self.certificate
    }
}

/// The states visited on the way from `start` when every action has its most useful outcome.
///
/// From each state the best action is taken and the successor that contributes most to reaching the goal,
/// `arg max P(s'|s,a) exp(-d(s'))`, is followed; with deterministic dynamics this is the optimal path. Ends at
/// the goal; empty if the goal cannot be reached.
pub fn path_to_goal(mdp: &TabularMdp, distances: &GoalDistances, start: usize) -> Vec<usize> {
    if !distances.nats(start).is_finite() {
        return Vec::new();
    }
    let mut path = vec![start];
    let mut visited = vec![false; mdp.n_states()];
    visited[start] = true;
    let mut state = start;
    while let Some(action) = distances.action(state) {
        let row = mdp.action_row(state, action).expect("the policy takes available actions");
        // Compare in logs: exp(-d) may underflow far from the goal. Staying put is never the way.
        let score = |(to, p): (usize, f64)| p.ln() - distances.nats(to);
        let next = row
            .iter()
            .filter(|&(to, _)| to != state)
            .max_by(|&a, &b| score(a).total_cmp(&score(b)))
            .expect("an action of the policy moves")
            .0;
        // A likely outcome can lead back (rarely, and only with strong noise): stop instead of going round.
        if std::mem::replace(&mut visited[next], true) {
            break;
        }
        path.push(next);
        state = next;
    }
    path
}
