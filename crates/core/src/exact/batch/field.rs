//! The values of one goal and their Bellman backups.

use super::{
    super::{control::PolicySystem, reverse::ReverseSearch},
    table::{ActionTable, LANES, Lane},
};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// The values `h = exp(-d)` of one goal, by position in breadth-first order from the goal, which
/// has position 0 and `h = 1`.
///
/// The successors are renumbered, so that a sweep reads memory in order; the weights are shared.
/// States that cannot reach the goal are represented by one position behind the last, with `h = 0`.
pub(super) struct Field<'a> {
    arch: Arch,
    table: &'a ActionTable,
    nodes: Vec<Node>,
    successors: Vec<u32>,
    values: Vec<f64>,
}

/// Where the successors and weights of a position are.
#[derive(Clone, Copy)]
struct Node {
    first_successor: u32,
    n_successors: u32,
    first_weight: u32,
    n_groups: u32,
}

impl<'a> Field<'a> {
    pub(super) fn new(table: &'a ActionTable, search: &ReverseSearch) -> Self {
        let n = search.order.len();
        let mut field = Self {
            arch: Arch::new(),
            table,
            nodes: Vec::with_capacity(n),
            successors: Vec::with_capacity(LANES * n),
            values: vec![0.0; n + 1],
        };
        field.values[0] = 1.0;
        for &state in &search.order {
            let successors = table.successors(state as usize);
            let (first_weight, n_groups) = table.block(state as usize);
            field.nodes.push(Node {
                first_successor: field.successors.len() as u32,
                n_successors: successors.len() as u32,
                first_weight,
                n_groups,
            });
            field.successors.extend(successors.iter().map(|&to| {
                let position = if to == ActionTable::NONE { to } else { search.position[to as usize] };
                position.min(n as u32)
            }));
        }
        field
    }

    /// Returns `h` by position.
    pub(super) fn values(&self) -> &[f64] {
        &self.values[..self.nodes.len()]
    }

    /// Returns the positions that the positions of a layer read, without the goal's own.
    pub(super) fn successors(&self, positions: Range<usize>) -> impl Iterator<Item = (usize, u32)> {
        let n = self.nodes.len() as u32;
        positions.flat_map(move |i| {
            let node = self.nodes[i];
            let successors = &self.successors[node.first_successor as usize..][..node.n_successors as usize];
            successors.iter().filter(move |&&j| j < n).map(move |&j| (i, j))
        })
    }

    /// Returns the values of the actions of a position, in groups.
    #[inline(always)]
    fn action_values(&self, position: usize) -> impl Iterator<Item = Lane> {
        let node = self.nodes[position];
        let n = node.n_successors as usize;
        let successors = &self.successors[node.first_successor as usize..][..n];
        (0..node.n_groups as usize).map(move |group| {
            let weights = &self.table.weights[node.first_weight as usize + group * n..][..n];
            let mut sums = [0.0; LANES];
            for (&j, weights) in successors.iter().zip(weights) {
                let value = self.values[j as usize];
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += weight * value;
                }
            }
            sums
        })
    }

    /// Returns `(T h)(s)`.
    #[inline(always)]
    fn backup(&self, position: usize) -> f64 {
        let mut best = [0.0f64; LANES];
        for values in self.action_values(position) {
            for (best, value) in best.iter_mut().zip(values) {
                *best = if value > *best { value } else { *best };
            }
        }
        let [a, b, c, d] = best;
        a.max(b).max(c.max(d))
    }

    /// Returns `(T h)(s)` and the index of the first action that attains it.
    fn best_action(&self, position: usize) -> (f64, usize) {
        let mut best = (0.0, 0);
        for (group, values) in self.action_values(position).enumerate() {
            for (lane, value) in values.into_iter().enumerate() {
                if value > best.0 {
                    best = (value, group * LANES + lane);
                }
            }
        }
        best
    }

    /// Runs one Gauss-Seidel sweep. Returns whether a value changed by more than the relative
    /// `tolerance`.
    pub(super) fn sweep(&mut self, positions: Range<usize>, tolerance: f64) -> bool {
        self.arch.dispatch(Sweep { field: self, positions, tolerance })
    }

    /// Returns the linear system of the best actions, in the variables `h / values`: with all values
    /// folded into the weights.
    pub(super) fn policy_system(&self) -> PolicySystem {
        let n = self.nodes.len();
        let mut policy = PolicySystem::without_rows(1);
        for i in 1..n {
            let (node, (_, action)) = (self.nodes[i], self.best_action(i));
            let (first, len) = (node.first_successor as usize, node.n_successors as usize);
            let group = node.first_weight as usize + action / LANES * len;
            let weights = self.table.weights[group..][..len].iter().map(|lane| lane[action % LANES]);
            let successors = self.successors[first..][..len].iter().copied();
            let entries = successors.zip(weights).filter(|&(j, weight)| weight > 0.0 && (j as usize) < n);
            policy.push_row(entries.map(|(j, weight)| (j, weight * self.values[j as usize] / self.values[i])));
        }
        policy
    }

    /// Adds relative corrections to the values.
    pub(super) fn correct(&mut self, relative_errors: &[f64]) {
        self.values.iter_mut().zip(relative_errors).for_each(|(value, error)| *value += error * *value);
    }

    /// Calls `visit(position, action)` with the index of the best action of every position but the
    /// goal. Returns the largest Bellman residual `|ln(T h / h)|`; infinite if a value is zero.
    pub(super) fn residual(&self, mut visit: impl FnMut(usize, usize)) -> f64 {
        let (mut low, mut high) = (1.0f64, 1.0f64);
        for i in 1..self.nodes.len() {
            let (value, action) = self.best_action(i);
            visit(i, action);
            let ratio = value / self.values[i];
            // `min` and `max` ignore NaN, so it is checked for here.
            if !(ratio > 0.0 && ratio < f64::INFINITY) {
                return f64::INFINITY;
            }
            (low, high) = (low.min(ratio), high.max(ratio));
        }
        high.ln().max(-low.ln())
    }
}

/// One sweep, compiled for each set of vector instructions. Sums are not fused, so all sets give
/// the same bits.
struct Sweep<'f, 'a> {
    field: &'f mut Field<'a>,
    positions: Range<usize>,
    tolerance: f64,
}

impl WithSimd for Sweep<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let mut excess = 0.0f64;
        for i in self.positions {
            let value = self.field.backup(i);
            let slot = &mut self.field.values[i];
            excess = excess.max((value - *slot).abs() - self.tolerance * value);
            *slot = value;
        }
        excess > 0.0
    }
}
