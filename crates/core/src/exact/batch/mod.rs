//! Many goals of one process: each solved by sweeps over a table that all goals share.
//!
//! The marches of [`control`](super::control) prepare a scaled copy of the process for every goal,
//! because values may differ by more than the range of a double. If they do not, goals can share
//! the weights: [`table`] holds them in the form that is fastest to sweep, [`field`] the values of
//! one goal, and [`march`] decides which layers to sweep. A goal whose values leave the range, or
//! do not settle, is left to the other methods.

mod field;
mod march;
mod table;

use super::{
    certificate::Certificate, mdp::TabularMdp, method::Method, result::GoalDistances, reverse::ReverseSearch,
};
use crate::Discount;
use field::Field;
use table::ActionTable;

/// Larger distances are left to the scaled marches. Values down to `exp(-600)` are normal numbers,
/// and a term that underflows is less than 1e-40 of any of them.
const MAX_NATS: f64 = 600.0;
/// Layers are swept until their values change by less than this fraction of the permitted residual.
const SETTLED: f64 = 0.4;

/// Solves one goal after another of a process at one discount, with the work they share done once.
pub(super) struct BatchSolver<'a> {
    mdp: &'a TabularMdp,
    discount: Discount,
    table: ActionTable,
}

impl<'a> BatchSolver<'a> {
    /// Prepares the process; `None` if its structure makes the shared table too large.
    pub(super) fn new(mdp: &'a TabularMdp, discount: Discount) -> Option<Self> {
        Some(Self { mdp, discount, table: ActionTable::new(mdp, discount)? })
    }

    /// Returns the distances to the goal at the front of `search`, or `None` if their relative
    /// error is not certified to be at most `tolerance`.
    pub(super) fn solve(&self, search: &ReverseSearch, tolerance: f64) -> Option<GoalDistances> {
        let nats_per_step = self.discount.nats_per_step();
        if search.layer_ends.len() as f64 * nats_per_step > MAX_NATS {
            return None;
        }
        let target = tolerance / (1.0 + tolerance) * nats_per_step;
        let mut field = Field::new(&self.table, search);
        if search.layer_ends.len() > 1
            && !march::march(&mut field, search, (SETTLED * target).max(4.0 * f64::EPSILON))
        {
            return None;
        }
        let distances = self.certified(&field, search);
        (distances.certificate.relative_error() <= tolerance).then_some(distances)
    }

    /// Converts values to distances, with the bound of their error.
    ///
    /// The residual is that of the recursion without transitions from a state to itself. With them,
    /// the residual of an action that stays with probability `p` is `1 - gamma p` times as large,
    /// so this one bounds it. Rounding adds one unit in the last place per term of a sum and a few
    /// per weight; the logarithm adds one to every distance, on both sides of the recursion.
    fn certified(&self, field: &Field<'_>, search: &ReverseSearch) -> GoalDistances {
        let mut nats = vec![f64::INFINITY; self.mdp.n_states()];
        let mut policy = vec![GoalDistances::NO_ACTION; self.mdp.n_states()];
        let mut farthest = 0.0f64;
        nats[search.order[0] as usize] = 0.0;
        let residual = field.residual(|position, action| {
            let state = search.order[position] as usize;
            let distance = -field.values()[position].ln();
            farthest = farthest.max(distance);
            nats[state] = distance;
            policy[state] = match self.table.are_actions_dense {
                true => action as u32,
                false => self.mdp.row_action[self.mdp.row_range(state).start + action],
            };
        });
        let rounding = f64::EPSILON * (self.table.longest_row as f64 + 8.0 + 2.0 * farthest);
        let is_in_range = farthest <= MAX_NATS;
        let bound = if is_in_range { residual + rounding } else { f64::INFINITY };
        let certificate = Certificate { residual_steps: bound / self.discount.nats_per_step() };
        GoalDistances { discount: self.discount, nats, policy, certificate, method: Method::PolicyIteration }
    }
}
