//! The values of one goal and their Bellman backups.

use super::{
    super::{control::PolicySystem, reverse::ReverseSearch},
    table::{ActionTable, Block, Entry, LANES, Successors, Weights},
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
    nodes: Vec<Entry>,
    successors: Vec<Successors>,
    values: Vec<f64>,
}

impl<'a> Field<'a> {
    pub(super) fn new(table: &'a ActionTable, search: &ReverseSearch) -> Self {
        let n = search.order.len();
        let mut field = Self {
            arch: crate::instruction_set::arch(),
            table,
            nodes: Vec::with_capacity(n),
            successors: Vec::with_capacity(n),
            values: vec![0.0; n + 1],
        };
        field.values[0] = 1.0;
        let position = |to: u32| match to {
            ActionTable::NONE => n as u32,
            to => search.position[to as usize].min(n as u32),
        };
        for &state in &search.order {
            let (block, quads) = table.state(state as usize);
            field.nodes.push(Entry { first_quad: field.successors.len() as u32, block });
            field.successors.extend(quads.iter().map(|quad| quad.map(position)));
        }
        field
    }

    /// Returns `h` by position.
    pub(super) fn values(&self) -> &[f64] {
        &self.values[..self.nodes.len()]
    }

    /// Returns whether a layer reads itself, and whether it reads positions from `next_end` on.
    pub(super) fn reads(&self, layer: Range<usize>, next_end: usize) -> (bool, bool) {
        let first = self.nodes[layer.start].first_quad as usize;
        let end = self.nodes.get(layer.end).map_or(self.successors.len(), |node| node.first_quad as usize);
        let (n, layer) = (self.nodes.len() as u32, layer.start as u32..layer.end as u32);
        let (mut itself, mut far) = (false, false);
        for &j in self.successors[first..end].as_flattened() {
            itself |= layer.start <= j && j < layer.end;
            far |= next_end as u32 <= j && j < n;
        }
        (itself, far)
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(self.table, &self.nodes, &self.successors)
    }

    /// Runs one Gauss-Seidel sweep. Returns whether a value changed by more than the relative
    /// `tolerance`.
    pub(super) fn sweep(&mut self, positions: Range<usize>, tolerance: f64) -> bool {
        let rows = Rows::new(self.table, &self.nodes, &self.successors);
        let are_quads = self.table.are_quads;
        self.arch.dispatch(Sweep { rows, are_quads, values: &mut self.values, positions, tolerance })
    }

    /// Returns the linear system of the best actions, in the variables `h / values`: with all
    /// values folded into the weights. `None` if a value has underflowed.
    pub(super) fn policy_system(&self) -> Option<PolicySystem> {
        let (rows, n) = (self.rows(), self.nodes.len());
        let mut policy = PolicySystem::without_rows(1);
        for i in 1..n {
            let ((_, action), inverse) = (rows.best_action(&self.values, i), 1.0 / self.values[i]);
            if !inverse.is_finite() {
                return None;
            }
            let entries = rows.entries(i, action);
            policy.push_row(entries.map(|(j, weight)| (j, weight * self.values[j as usize] * inverse)));
        }
        Some(policy)
    }

    /// Adds relative corrections to the values.
    pub(super) fn correct(&mut self, relative_errors: &[f64]) {
        self.values.iter_mut().zip(relative_errors).for_each(|(value, error)| *value += error * *value);
    }

    /// Calls `visit(position, action)` with the index of the best action of every position but the
    /// goal. Returns the largest Bellman residual `|ln(T h / h)|`; infinite if a value is zero.
    pub(super) fn residual(&self, mut visit: impl FnMut(usize, usize)) -> f64 {
        let rows = self.rows();
        let (mut low, mut high) = (1.0f64, 1.0f64);
        for i in 1..self.nodes.len() {
            let (value, action) = rows.best_action(&self.values, i);
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

/// The actions of all positions, apart from the values, so that the compiler knows that writing a
/// value changes nothing here.
#[derive(Clone, Copy)]
struct Rows<'r> {
    nodes: &'r [Entry],
    successors: &'r [Successors],
    blocks: &'r [Block],
    weights: &'r [Weights],
}

impl<'r> Rows<'r> {
    fn new(table: &'r ActionTable, nodes: &'r [Entry], successors: &'r [Successors]) -> Self {
        Self { nodes, successors, blocks: &table.blocks, weights: &table.weights }
    }

    #[inline(always)]
    fn block(self, position: usize) -> Block {
        self.blocks[self.nodes[position].block as usize]
    }

    #[inline(always)]
    fn successors(self, position: usize) -> &'r [Successors] {
        let n_quads = self.block(position).n_quads as usize;
        &self.successors[self.nodes[position].first_quad as usize..][..n_quads]
    }

    /// Returns the weights of a group of actions, one entry per quad of successors.
    #[inline(always)]
    fn weights(self, position: usize, group: usize) -> &'r [Weights] {
        let Block { first_weights, n_quads, .. } = self.block(position);
        &self.weights[first_weights as usize + group * n_quads as usize..][..n_quads as usize]
    }

    /// Returns the values of a group of actions.
    #[inline(always)]
    fn group_values(self, values: &[f64], position: usize, group: usize) -> [f64; LANES] {
        let mut sums = [0.0; LANES];
        for (successors, weights) in self.successors(position).iter().zip(self.weights(position, group)) {
            add_quad(&mut sums, values, successors, weights);
        }
        sums
    }

    /// Returns `(T h)(s)`.
    #[inline(always)]
    fn backup(self, values: &[f64], position: usize) -> f64 {
        let mut best = [0.0f64; LANES];
        for group in 0..self.block(position).n_groups as usize {
            for (best, value) in best.iter_mut().zip(self.group_values(values, position, group)) {
                *best = larger(*best, value);
            }
        }
        largest(best)
    }

    /// Returns `(T h)(s)` if every block is a single quad of weights.
    #[inline(always)]
    fn backup_of_quad(self, values: &[f64], position: usize) -> f64 {
        let mut sums = [0.0; LANES];
        let weights = &self.weights[self.nodes[position].block as usize];
        add_quad(&mut sums, values, &self.successors[position], weights);
        largest(sums)
    }

    /// Returns `(T h)(s)` and the index of the first action that attains it.
    fn best_action(self, values: &[f64], position: usize) -> (f64, usize) {
        let mut best = (0.0, 0);
        for group in 0..self.block(position).n_groups as usize {
            let values = self.group_values(values, position, group);
            let value = largest(values);
            // Selects instead of branching: which action is best is hard to predict.
            let first =
                (0..LANES).rev().fold(0, |first, lane| if values[lane] == value { lane } else { first });
            if value > best.0 {
                best = (value, group * LANES + first);
            }
        }
        best
    }

    /// Iterates over `(successor, weight)` of one action, with padding.
    fn entries(self, position: usize, action: usize) -> impl ExactSizeIterator<Item = (u32, f64)> {
        let weights = self.weights(position, action / LANES).as_flattened().iter();
        let weights = weights.map(move |weights| weights[action % LANES]);
        self.successors(position).as_flattened().iter().copied().zip(weights)
    }
}

/// Adds the terms of four successors to the sums of the actions.
#[inline(always)]
fn add_quad(sums: &mut [f64; LANES], values: &[f64], successors: &Successors, weights: &Weights) {
    for (&j, weights) in successors.iter().zip(weights) {
        let value = values[j as usize];
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += weight * value;
        }
    }
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Returns the largest value, by halves, which is how vector instructions reduce.
#[inline(always)]
fn largest([a, b, c, d]: [f64; LANES]) -> f64 {
    larger(larger(a, c), larger(b, d))
}

/// One sweep, compiled for each set of vector instructions. Sums are not fused, so all sets give
/// the same bits.
struct Sweep<'s> {
    rows: Rows<'s>,
    /// Whether every block is a single quad of weights.
    are_quads: bool,
    values: &'s mut [f64],
    positions: Range<usize>,
    tolerance: f64,
}

impl WithSimd for Sweep<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Self { rows, are_quads, values, positions, tolerance } = self;
        let mut has_changed = false;
        let mut replace = |values: &mut [f64], i: usize, value: f64| {
            has_changed |= (value - values[i]).abs() > tolerance * value;
            values[i] = value;
        };
        if are_quads {
            // No loops over quads and groups: sweeps of grids spend most of their time here.
            for i in positions {
                let value = rows.backup_of_quad(values, i);
                replace(values, i, value);
            }
        } else {
            for i in positions {
                let value = rows.backup(values, i);
                replace(values, i, value);
            }
        }
        has_changed
    }
}
