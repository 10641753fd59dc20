//! Distances that depend on the first action.

use super::{certificate::neg_log_mean_exp_neg, mdp::TabularMdp, result::GoalDistances};

/// `d((state, action), goal)` in nats: the distance when the first action is given and the best ones follow,
///
/// ```text
/// d((s,a), g) = -ln( gamma * sum_s' P(s'|s,a) exp(-d(s',g)) )    for s != g,    0 for s = g
/// ```
///
/// It does not depend on an action attached to the goal, and `min_a d((s,a), g) = d(s, g)`. `None` if the
/// action is not available in that state.
pub fn action_nats(mdp: &TabularMdp, distances: &GoalDistances, state: usize, action: usize) -> Option<f64> {
    let row = mdp.action_row(state, action)?;
    if distances.nats(state) == 0.0 {
        return Some(0.0);
    }
    let after = neg_log_mean_exp_neg(row.iter().map(|(to, p)| (p, distances.nats(to))));
    Some(distances.discount.nats_per_step() + after)
}
