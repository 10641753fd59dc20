//! The Bellman recursion of one goal set, renumbered and scaled for sweeps.

use super::super::{
    certificate::neg_log_mean_exp_neg, mdp::TabularMdp, result::GoalDistances, reverse::ReverseSearch,
};
use crate::Discount;
use std::ops::Range;

/// Scaled values outside `1 / MAX_SCALED ..= MAX_SCALED` are folded back into the potential.
const MAX_SCALED: f64 = 1e100;
/// Larger weights and values are clipped until the potential has decreased. Only extremely
/// improbable detours reach these limits. The product of the two does not overflow.
const MAX_WEIGHT: f64 = 1e150;
const MAX_VALUE: f64 = 1e150;

/// The Bellman recursion of one goal set, in the variables `u = h * exp(potential)`.
///
/// `h = exp(-d)` underflows some hundred nats away from the goal; `u` does not. With self-loops
/// eliminated, the recursion is
///
/// ```text
/// u_i = max_a sum_{j != i} w_ij u_j,    w_ij = gamma P_ij exp(potential_i - potential_j) / (1 - gamma P_ii)
/// ```
///
/// Indices are positions in breadth-first order from the goals, which have the first `n_goals`
/// positions, `u = 1` and potential 0. States that cannot reach a goal are absent. The potential
/// starts as the number of transitions to the goal times `ln(1/gamma)`, a lower bound of `d`, so
/// that `u <= 1`.
pub(super) struct System<'a> {
    mdp: &'a TabularMdp,
    discount: Discount,
    search: ReverseSearch,
    pub(super) n_goals: usize,
    /// The rows of position `n_goals + k` are `first_row[k]..first_row[k + 1]`.
    first_row: Vec<u32>,
    /// The row of `mdp` that each row was copied from.
    mdp_row: Vec<u32>,
    entry_ptr: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
    /// Whether a weight or value is clipped, so that the values do not yet satisfy the recursion.
    pub(super) is_clipped: bool,
    potential: Vec<f64>,
    /// `u`, by position.
    pub(super) scaled: Vec<f64>,
    /// The best row of each non-goal position, as of its last improvement or residual check.
    choice: Vec<u32>,
}

impl<'a> System<'a> {
    pub(super) fn new(
        mdp: &'a TabularMdp,
        search: ReverseSearch,
        n_goals: usize,
        discount: Discount,
    ) -> Self {
        let n = search.order.len();
        let potential = min_nats(&search, discount);
        let mut scaled = vec![0.0; n];
        scaled[..n_goals].fill(1.0);
        let mut system = Self {
            mdp,
            discount,
            search,
            n_goals,
            first_row: Vec::with_capacity(n - n_goals + 1),
            mdp_row: Vec::with_capacity(mdp.n_rows()),
            entry_ptr: Vec::with_capacity(mdp.n_rows() + 1),
            columns: Vec::with_capacity(mdp.n_transitions()),
            weights: Vec::with_capacity(mdp.n_transitions()),
            is_clipped: false,
            potential,
            scaled,
            choice: vec![0; n - n_goals],
        };
        system.copy_rows();
        system
    }

    /// Resets the potential to its initial value, the lower bound of `d`, and `u` to 1, its upper
    /// bound.
    pub(super) fn start_from_above(&mut self) {
        self.potential = min_nats(&self.search, self.discount);
        self.scaled.fill(1.0);
        self.rescale();
    }

    /// Copies and renumbers every row that can reach a goal, without self-loops and dead ends.
    fn copy_rows(&mut self) {
        self.first_row.push(0);
        self.entry_ptr.push(0);
        for i in self.n_goals..self.search.order.len() {
            for row in self.mdp.row_range(self.search.order[i] as usize) {
                let begin = self.columns.len();
                let stay = self.for_each_entry(row, i, |this, j, probability| {
                    this.columns.push(j as u32);
                    this.weights.push(probability * (this.potential[i] - this.potential[j]).exp());
                });
                if self.columns.len() > begin {
                    let factor = self.discount.gamma() / (1.0 - self.discount.gamma() * stay);
                    self.weights[begin..].iter_mut().for_each(|weight| *weight *= factor);
                    self.entry_ptr.push(self.columns.len() as u32);
                    self.mdp_row.push(row as u32);
                }
            }
            self.first_row.push(self.mdp_row.len() as u32);
        }
    }

    /// Recomputes all weights after a change of the potential.
    fn rescale(&mut self) {
        self.is_clipped = false;
        let mut entry = 0;
        for i in self.n_goals..self.search.order.len() {
            for row in self.rows(i) {
                let begin = entry;
                let stay = self.for_each_entry(self.mdp_row[row] as usize, i, |this, j, probability| {
                    this.weights[entry] = probability * (this.potential[i] - this.potential[j]).exp();
                    entry += 1;
                });
                let factor = self.discount.gamma() / (1.0 - self.discount.gamma() * stay);
                for weight in &mut self.weights[begin..entry] {
                    *weight *= factor;
                    if *weight > MAX_WEIGHT {
                        *weight = MAX_WEIGHT;
                        self.is_clipped = true;
                    }
                }
            }
        }
    }

    /// Calls `visit(self, j, P_ij)` for the transitions of a row of `mdp` to other positions;
    /// returns `P_ii`.
    #[inline]
    fn for_each_entry(
        &mut self,
        mdp_row: usize,
        i: usize,
        mut visit: impl FnMut(&mut Self, usize, f64),
    ) -> f64 {
        let mut stay = 0.0;
        for (to, probability) in self.mdp.row(mdp_row).iter() {
            let j = self.search.position[to];
            if j as usize == i {
                stay = probability;
            } else if j != ReverseSearch::UNREACHABLE {
                visit(self, j as usize, probability);
            }
        }
        stay
    }

    /// Returns the number of layers, with the goals as layer 0.
    pub(super) fn n_layers(&self) -> usize {
        self.search.layer_ends.len()
    }

    fn layer(&self, layer: usize) -> Range<usize> {
        self.search.layer_ends[layer - 1] as usize..self.search.layer_ends[layer] as usize
    }

    fn rows(&self, position: usize) -> Range<usize> {
        let k = position - self.n_goals;
        self.first_row[k] as usize..self.first_row[k + 1] as usize
    }

    fn entries(&self, row: usize) -> Range<usize> {
        self.entry_ptr[row] as usize..self.entry_ptr[row + 1] as usize
    }

    /// Returns `sum_j w_ij u_j` of one row.
    #[inline]
    fn row_value(&self, row: usize) -> f64 {
        let entries = self.entries(row);
        let pairs = self.weights[entries.clone()].iter().zip(&self.columns[entries]);
        pairs.map(|(&weight, &column)| weight * self.scaled[column as usize]).sum()
    }

    /// Returns `max_a sum_j w_ij u_j` and the first row that attains it.
    #[inline]
    fn backup(&self, position: usize) -> (f64, u32) {
        let rows = self.rows(position);
        let mut best = (self.row_value(rows.start), rows.start as u32);
        for row in rows.skip(1) {
            let value = self.row_value(row);
            if value > best.0 {
                best = (value, row as u32);
            }
        }
        best
    }

    /// Runs one Gauss-Seidel sweep of a layer over all actions. Returns the largest relative
    /// change.
    pub(super) fn improve_layer(&mut self, layer: usize) -> f64 {
        let mut change = 0.0f64;
        for i in self.layer(layer) {
            let (value, row) = self.backup(i);
            let value = self.clip_value(value);
            change = change.max((value - self.scaled[i]).abs() / value);
            self.scaled[i] = value;
            self.choice[i - self.n_goals] = row;
        }
        change
    }

    #[inline]
    fn clip_value(&mut self, value: f64) -> f64 {
        if value > MAX_VALUE {
            self.is_clipped = true;
            return MAX_VALUE;
        }
        value
    }

    /// Runs one Gauss-Seidel sweep of a layer over the chosen actions.
    pub(super) fn evaluate_layer(&mut self, layer: usize) {
        for i in self.layer(layer) {
            let value = self.row_value(self.choice[i - self.n_goals] as usize);
            self.scaled[i] = self.clip_value(value);
        }
    }

    /// Returns the largest Bellman residual `|ln(T u / u)|` in nats; infinite if a value is NaN.
    /// Updates the choices only.
    pub(super) fn residual(&mut self) -> f64 {
        if self.is_clipped {
            return f64::INFINITY;
        }
        let mut ratios = (1.0f64, 1.0f64);
        for i in self.n_goals..self.scaled.len() {
            let (value, row) = self.backup(i);
            let ratio = value / self.scaled[i];
            // `min` and `max` ignore NaN, so it is checked for here.
            if !(ratio > 0.0 && ratio < f64::INFINITY) {
                return f64::INFINITY;
            }
            ratios = (ratios.0.min(ratio), ratios.1.max(ratio));
            self.choice[i - self.n_goals] = row;
        }
        ratios.1.ln().max(-ratios.0.ln())
    }

    /// Iterates over `(columns, weights)` of the chosen row of each non-goal position.
    pub(super) fn chosen_entries(&self) -> impl Iterator<Item = (&[u32], &[f64])> {
        self.choice.iter().map(|&row| {
            let entries = self.entries(row as usize);
            (&self.columns[entries.clone()], &self.weights[entries])
        })
    }

    /// Rescales the values of a layer after its first sweep, and the potential of the layers behind
    /// it, if any value is below `min_value` or has underflowed.
    pub(super) fn lift_layer(&mut self, layer: usize, min_value: f64) {
        let range = self.layer(layer);
        if self.scaled[range.clone()].iter().all(|&u| u >= min_value) {
            return;
        }
        // The backup is computed in nats, so that the new potential does not depend on underflowed
        // values.
        let mut min_drift = f64::INFINITY;
        for i in range.clone() {
            let lifted = self.backup_nats(i);
            min_drift = min_drift.min(lifted - self.potential[i]);
            (self.potential[i], self.scaled[i]) = (lifted, 1.0);
        }
        self.potential[range.end..].iter_mut().for_each(|nats| *nats += min_drift.max(0.0));
        self.rescale();
    }

    /// Returns the Bellman backup of one position in nats, over the positions that have a value.
    fn backup_nats(&self, i: usize) -> f64 {
        let of_row = |row: usize| {
            let transitions = self.mdp.row(row);
            let known = transitions.iter().filter_map(|(to, p)| {
                let j = self.search.position[to];
                let u = if j == ReverseSearch::UNREACHABLE { 0.0 } else { self.scaled[j as usize] };
                (j as usize != i && u > 0.0).then(|| (p, self.potential[j as usize] - u.ln()))
            });
            self.discount.nats_per_step() + neg_log_mean_exp_neg(known)
        };
        self.mdp.row_range(self.search.order[i] as usize).map(of_row).fold(f64::INFINITY, f64::min)
    }

    /// Moves the scaled values into the potential, so that `u = 1` everywhere.
    pub(super) fn fold(&mut self) {
        for (potential, scaled) in self.potential.iter_mut().zip(&mut self.scaled) {
            *potential -= scaled.ln();
            *scaled = 1.0;
        }
        self.rescale();
    }

    /// Folds if values may overflow soon, or a weight or value is clipped.
    pub(super) fn keep_in_range(&mut self) {
        let in_range = 1.0 / MAX_SCALED..=MAX_SCALED;
        if self.is_clipped || self.scaled.iter().any(|u| !in_range.contains(u)) {
            self.fold();
        }
    }

    /// Returns distances in nats and the chosen actions, by state.
    pub(super) fn into_result(self) -> (Vec<f64>, Vec<u32>) {
        let mut nats = vec![f64::INFINITY; self.mdp.n_states()];
        let mut policy = vec![GoalDistances::NO_ACTION; self.mdp.n_states()];
        for (i, &state) in self.search.order.iter().enumerate() {
            nats[state as usize] = self.potential[i] - self.scaled[i].ln();
            if i >= self.n_goals {
                let row = self.mdp_row[self.choice[i - self.n_goals] as usize];
                policy[state as usize] = self.mdp.row_action[row as usize];
            }
        }
        (nats, policy)
    }
}

/// Returns the number of transitions to the goal times `ln(1/gamma)`, by position: a lower bound of
/// `d`.
fn min_nats(search: &ReverseSearch, discount: Discount) -> Vec<f64> {
    let mut nats = Vec::with_capacity(search.order.len());
    for (steps, &end) in search.layer_ends.iter().enumerate() {
        nats.resize(end as usize, steps as f64 * discount.nats_per_step());
    }
    nats
}
