//! Error bounds of distances, computed from the distances alone.

use super::mdp::TabularMdp;
use crate::Discount;

/// A certified bound on the error of distances to a goal.
///
/// Write the Bellman operator on distances as `(T d)(s) = L + min_a -ln sum_s' P(s'|s,a)
/// exp(-d(s'))` with `L = ln(1/gamma)`, and let `d*` be its fixed point. If `|T d - d| <= rho * L`
/// at every state except the goals, with `rho < 1`, then at every state
///
/// ```text
/// d / (1 + rho)  <=  d*  <=  d / (1 - rho)
/// ```
///
/// so the residual measured **in steps** bounds the **relative** error of every distance, for any
/// distance to the goal and any `gamma`. Proof: for `0 < c < 1` the map `x -> x^c` is concave, so
/// by Jensen `T(c d) >= c T d + (1 - c) L`; with `c = 1 / (1 + rho)` this makes `c d` a
/// sub-solution, `T(c d) >= c d`, hence `c d <= d*` by monotonicity of `T`. The upper bound follows
/// likewise with `c = 1 / (1 - rho)`, where `x -> x^c` is convex and both inequalities are
/// reversed. Rounding errors of evaluating `T` are added to the residual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// The largest Bellman residual in steps, including rounding errors.
    pub(super) residual_steps: f64,
}

impl Certificate {
    /// Returns the largest Bellman residual `rho`, in steps.
    pub fn residual_steps(self) -> f64 {
        self.residual_steps
    }

    /// Returns a bound on `|d* - d| / d`; infinite if no bound can be certified.
    pub fn relative_error(self) -> f64 {
        if self.residual_steps < 1.0 {
            self.residual_steps / (1.0 - self.residual_steps)
        } else {
            f64::INFINITY
        }
    }

    /// Returns an interval that contains the true value of a computed distance, in the unit of
    /// `distance`.
    pub fn interval(self, distance: f64) -> (f64, f64) {
        if distance == 0.0 || distance == f64::INFINITY {
            return (distance, distance); // decided by search, not by arithmetic
        }
        let upper =
            if self.residual_steps < 1.0 { distance / (1.0 - self.residual_steps) } else { f64::INFINITY };
        (distance / (1.0 + self.residual_steps), upper)
    }
}

/// Certifies any table of distances `nats[s]` to a set of goals.
///
/// `nats` must be zero at the goals and infinite exactly at the states that cannot reach a goal;
/// otherwise the bound is infinite.
///
/// # Panics
///
/// If a goal is not a state, or `nats` does not have one entry per state.
pub fn certify(mdp: &TabularMdp, discount: Discount, goals: &[usize], nats: &[f64]) -> Certificate {
    let mut is_goal = vec![false; mdp.n_states()];
    goals.iter().for_each(|&goal| is_goal[goal] = true);
    let residual_nats = |state: usize| {
        let backed_up = if is_goal[state] { 0.0 } else { backup_nats(mdp, discount, state, nats) };
        // If both are infinite, the difference is zero, not NaN.
        let difference = if backed_up == nats[state] { 0.0 } else { (backed_up - nats[state]).abs() };
        let residual = difference + rounding(mdp, state, nats[state]);
        if residual.is_nan() { f64::INFINITY } else { residual }
    };
    let worst = (0..mdp.n_states()).map(residual_nats).fold(0.0, f64::max);
    Certificate { residual_steps: worst / discount.nats_per_step() }
}

/// Returns `(T d)(s)`.
fn backup_nats(mdp: &TabularMdp, discount: Discount, state: usize, nats: &[f64]) -> f64 {
    mdp.rows(state)
        .map(|row| discount.nats_per_step() + neg_log_mean_exp_neg(row.iter().map(|(to, p)| (p, nats[to]))))
        .fold(f64::INFINITY, f64::min)
}

/// Returns a bound on the rounding error of `backup_nats`, in nats.
fn rounding(mdp: &TabularMdp, state: usize, nats: f64) -> f64 {
    let longest = mdp.rows(state).map(|row| row.successors.len()).max().unwrap_or(0);
    if nats.is_finite() { f64::EPSILON * (longest as f64 + 4.0 + 2.0 * nats.abs()) } else { 0.0 }
}

/// Returns `-ln sum_i p_i exp(-d_i)` without underflow; infinite if every `d_i` is.
pub(super) fn neg_log_mean_exp_neg(terms: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let nearest = terms.clone().map(|(_, nats)| nats).fold(f64::INFINITY, f64::min);
    if nearest == f64::INFINITY {
        return f64::INFINITY;
    }
    nearest - terms.map(|(p, nats)| p * (nearest - nats).exp()).sum::<f64>().ln()
}
