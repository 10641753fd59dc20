//! Undiscounted hitting statistics of a Markov chain: reach probabilities and mean costs.

use super::{
    mdp::TabularMdp,
    reverse::Predecessors,
    solver::{SolveError, checked_goals},
};

/// The maximum number of states that can reach a goal. The elimination works on a dense matrix of
/// them: 200 MB at this number.
const MAX_STATES: usize = 5_000;

/// Statistics of reaching a set of goals in a Markov chain, without a discount.
///
/// ```text
/// f(s) = Pr(H(s) < inf),    m(s) = E[ sum of costs until H | H < inf ]
/// ```
///
/// Both solve a linear system `x = b + P x` on the states that can still reach a goal. Without
/// discount such systems are arbitrarily ill-conditioned, so they are solved by state reduction
/// (Grassmann, Taksar and Heyman 1985), which never subtracts: every component has a small relative
/// error even if the goal is rarely reached.
pub struct HittingStatistics<'a> {
    chain: &'a TabularMdp,
    /// The states that can reach a goal and are not goals, nearest first. The index is that of the
    /// unknown.
    transient: Vec<usize>,
    reach_probability: Vec<f64>,
}

/// Computes the statistics of reaching `goals` (at least one, in range) in a chain.
///
/// # Errors
/// If the process is not a chain, a goal is out of range, or too many states can reach a goal.
pub fn hitting_statistics<'a>(
    chain: &'a TabularMdp,
    goals: &[usize],
) -> Result<HittingStatistics<'a>, SolveError> {
    if !chain.is_chain() {
        return Err(SolveError::NotAChain);
    }
    let goals = checked_goals(goals, chain.n_states())?;
    let search = Predecessors::new(chain).search_from(&goals);
    let transient: Vec<usize> = search.order[goals.len()..].iter().map(|&state| state as usize).collect();
    if transient.len() > MAX_STATES {
        return Err(SolveError::TooManyStates { n_states: transient.len(), max: MAX_STATES });
    }
    let mut reach_probability = vec![0.0; chain.n_states()];
    goals.iter().for_each(|&goal| reach_probability[goal] = 1.0);
    let mut statistics = HittingStatistics { chain, transient, reach_probability };
    let is_goal = |state: usize| goals.binary_search(&state).is_ok();
    let reached = statistics.solve(|_, to| if is_goal(to) { 1.0 } else { 0.0 }, |_, _| 1.0);
    for (&state, f) in statistics.transient.iter().zip(reached) {
        statistics.reach_probability[state] = f.min(1.0);
    }
    Ok(statistics)
}

impl HittingStatistics<'_> {
    /// Returns `Pr(H(s) < inf)` by state: 1 at the goals, 0 where no goal can be reached (or where
    /// the probability is below the smallest double).
    pub fn reach_probability(&self) -> &[f64] {
        &self.reach_probability
    }

    /// Returns the mean total of `cost(from, to) >= 0` over the transitions until a goal is
    /// reached, given that one is reached. Infinite where no goal can be reached. With a cost of
    /// one, this is the expected number of steps.
    pub fn mean_if_reached(&self, cost: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let f = &self.reach_probability;
        // Given that a goal is reached, the transition probabilities are P(s'|s) f(s') / f(s).
        let tilt = |from: usize, to: usize| if f[from] > 0.0 { f[to] / f[from] } else { 0.0 };
        let totals = self.solve(|from, to| tilt(from, to) * cost(from, to), tilt);
        let mut means: Vec<f64> = f.iter().map(|&f| if f > 0.0 { 0.0 } else { f64::INFINITY }).collect();
        for (&state, total) in self.transient.iter().zip(totals) {
            if f[state] > 0.0 {
                means[state] = total;
            }
        }
        means
    }

    /// Solves `x(s) = sum_s' P(s'|s) (term(s, s') + tilt(s, s') x(s'))` on the transient states.
    fn solve(&self, term: impl Fn(usize, usize) -> f64, tilt: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let n = self.transient.len();
        let mut unknown = vec![usize::MAX; self.chain.n_states()];
        self.transient.iter().enumerate().for_each(|(i, &state)| unknown[state] = i);
        let (mut transitions, mut leak, mut right_side) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n]);
        for (i, &state) in self.transient.iter().enumerate() {
            for (to, p) in self.chain.row(state).iter() {
                right_side[i] += p * term(state, to);
                match unknown[to] {
                    usize::MAX => leak[i] += p * tilt(state, to),
                    j => transitions[i * n + j] += p * tilt(state, to),
                }
            }
        }
        reduce(transitions, leak, right_side)
    }
}

/// Solves `x = right_side + transitions x`, where `leak` is one minus the row sums of
/// `transitions`.
///
/// Repeatedly eliminates the last unknown by redirecting its predecessors to its successors, then
/// substitutes from the first unknown on. `1 - transitions[k][k]` is computed as the sum of the
/// other exits, without subtraction.
fn reduce(mut transitions: Vec<f64>, mut leak: Vec<f64>, mut right_side: Vec<f64>) -> Vec<f64> {
    let n = leak.len();
    let mut outflow = vec![0.0; n];
    for k in (0..n).rev() {
        let (before, from_k) = transitions.split_at_mut(k * n);
        let from_k = &from_k[..k];
        outflow[k] = leak[k] + from_k.iter().sum::<f64>();
        for i in 0..k {
            let share = before[i * n + k] / outflow[k];
            if share > 0.0 {
                let row = &mut before[i * n..i * n + k];
                row.iter_mut().zip(from_k).for_each(|(to, through_k)| *to += share * through_k);
                leak[i] += share * leak[k];
                right_side[i] += share * right_side[k];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in 0..n {
        // The entry (k, k) is left out: the outflow accounts for self-loops.
        let inner: f64 = transitions[k * n..k * n + k].iter().zip(&x).map(|(p, x)| p * x).sum();
        x[k] = (right_side[k] + inner) / outflow[k];
    }
    x
}
