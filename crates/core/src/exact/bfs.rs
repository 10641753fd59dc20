//! Deterministic dynamics: reverse breadth-first search.

use super::{
    certificate::Certificate,
    mdp::{Row, TabularMdp},
    method::Method,
    result::GoalDistances,
    reverse::Predecessors,
};
use crate::Discount;

/// Computes `d = steps * ln(1/gamma)` in time linear in the size of the graph.
pub(super) fn solve(
    mdp: &TabularMdp,
    predecessors: &Predecessors,
    discount: Discount,
    goals: &[usize],
) -> GoalDistances {
    let search = predecessors.search_from(goals);
    let mut nats = vec![f64::INFINITY; mdp.n_states()];
    let mut policy = vec![GoalDistances::NO_ACTION; mdp.n_states()];
    let mut begin = 0;
    for (steps, &end) in search.layer_ends.iter().enumerate() {
        for &state in &search.order[begin as usize..end as usize] {
            nats[state as usize] = steps as f64 * discount.nats_per_step();
            if steps > 0 {
                // The previous layers are complete: every state before this layer in the order is
                // nearer.
                let nearer = |row: &Row<'_>| search.position[row.successors[0] as usize] < begin;
                let row = mdp
                    .rows(state as usize)
                    .find(nearer)
                    .expect("every layer has transitions to the previous one");
                policy[state as usize] = row.action as u32;
            }
        }
        begin = end;
    }
    // There are two roundings: of ln(1/gamma) and of the product.
    let certificate = Certificate { residual_steps: 2.0 * f64::EPSILON };
    GoalDistances { discount, nats, policy, certificate, method: Method::BreadthFirst }
}
