//! Will a chain get there, and what does it take if it does? Undiscounted companions of the distance.

use super::{lu::DominantLu, mdp::TabularMdp, reverse::Predecessors, solver::SolveError};

/// Reaching a set of goals in a Markov chain, without discount.
///
/// ```text
/// f(s) = Pr(H(s) < inf),    E[ sum of costs until H | H < inf ] = x(s) / f(s)
/// ```
///
/// where both `f` and `x` solve linear systems with `I - P` restricted to the states that can still reach a
/// goal, factored once.
pub struct HittingStatistics<'a> {
    chain: &'a TabularMdp,
    factors: DominantLu,
    /// Transient states that can reach a goal; the index is the unknown's number.
    transient: Vec<usize>,
    reach_probability: Vec<f64>,
}

/// Factors the problem of reaching `goals` (at least one, in range) in a chain.
pub fn hitting_statistics<'a>(
    chain: &'a TabularMdp,
    goals: &[usize],
) -> Result<HittingStatistics<'a>, SolveError> {
    if chain.n_rows() != chain.n_states() {
        return Err(SolveError::NotAChain);
    }
    let goals = super::solver::checked_goals(goals, chain.n_states())?;
    let search = Predecessors::new(chain).search_from(&goals);
    let transient: Vec<usize> = search.order[goals.len()..].iter().map(|&state| state as usize).collect();
    // The search starts with the goals: the unknown of a state is its position minus their count.
    let transient_positions = goals.len()..search.order.len();
    let mut entries = Vec::new();
    for (i, &state) in transient.iter().enumerate() {
        for (to, p) in chain.row(state).iter() {
            let position = search.position[to] as usize;
            if transient_positions.contains(&position) {
                entries.push((i, position - goals.len(), p));
            }
        }
    }
    let factors = DominantLu::new(transient.len(), entries.into_iter()).ok_or(SolveError::Factorisation)?;
    let mut statistics =
        HittingStatistics { chain, factors, transient, reach_probability: vec![0.0; chain.n_states()] };
    goals.iter().for_each(|&goal| statistics.reach_probability[goal] = 1.0);
    let reached = statistics.solve(|_, to| if goals.binary_search(&to).is_ok() { 1.0 } else { 0.0 });
    for (&state, f) in statistics.transient.iter().zip(reached) {
        statistics.reach_probability[state] = f.min(1.0);
    }
    Ok(statistics)
}

impl HittingStatistics<'_> {
    /// `Pr(H(s) < inf)` by state: 1 at the goals, 0 exactly where no goal can be reached.
    pub fn reach_probability(&self) -> &[f64] {
        &self.reach_probability
    }

    /// The mean total of `cost(from, to)` over the transitions until a goal is reached, given that it is.
    /// Infinite where no goal can be reached. With a cost of one this is the expected number of steps.
    pub fn mean_if_reached(&self, cost: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let f = &self.reach_probability;
        let totals = self.solve(|from, to| f[to] * cost(from, to));
        let mut means: Vec<f64> = f.iter().map(|&f| if f > 0.0 { 0.0 } else { f64::INFINITY }).collect();
        for (&state, total) in self.transient.iter().zip(totals) {
            means[state] = total / f[state];
        }
        means
    }

    /// Solves `(I - P) x = b` on the transient states with `b(s) = sum_s' P(s'|s) term(s, s')`.
    fn solve(&self, term: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let right_side =
            |&state: &usize| self.chain.row(state).iter().map(|(to, p)| p * term(state, to)).sum();
        let mut x: Vec<f64> = self.transient.iter().map(right_side).collect();
        self.factors.solve(&mut x);
        x
    }
}
