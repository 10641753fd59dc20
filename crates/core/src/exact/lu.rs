//! Markov chains: one sparse factorization for all goals.

use super::{
    certificate::certify, mdp::TabularMdp, method::Method, result::GoalDistances, reverse::ReverseSearch,
};
use crate::Discount;
use faer::{
    linalg::solvers::SolveCore,
    sparse::{SparseColMat, Triplet, linalg::solvers::Lu},
};

/// The factorization of `I - W` for a non-negative matrix `W` with row sums of at most one.
///
/// `I - W` is row diagonally dominant. Its *transpose*, which is column diagonally dominant, is
/// factored: partial pivoting then never leaves the diagonal, all off-diagonal entries of the
/// factors have one sign, and solving with a non-negative right-hand side adds numbers of one sign
/// only. Small components therefore have small relative errors, which their logarithms need.
pub(super) struct DominantLu {
    factors: Lu<usize, f64>,
    n: usize,
}

impl DominantLu {
    /// Factors `I - W` of order `n`, with `W` given by distinct `(row, column, value)` entries.
    /// Returns `None` if the matrix is singular or memory runs out.
    pub(super) fn new(n: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Option<Self> {
        let mut diagonal = vec![1.0; n];
        let mut transposed = Vec::new();
        for (row, col, value) in entries {
            if row == col {
                diagonal[row] -= value;
            } else {
                transposed.push(Triplet::new(col, row, -value));
            }
        }
        transposed.extend(diagonal.into_iter().enumerate().map(|(i, value)| Triplet::new(i, i, value)));
        let matrix = SparseColMat::try_new_from_triplets(n, n, &transposed).ok()?;
        Some(Self { factors: matrix.sp_lu().ok()?, n })
    }

    /// Solves `(I - W) x = b` in place.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let column = faer::MatMut::from_column_major_slice_mut(b, self.n, 1);
        self.factors.solve_transpose_in_place_with_conj(faer::Conj::No, column);
    }
}

/// Factors `I - gamma P` of a chain, with the rows of `P` for which `is_kept` is false set to zero.
pub(super) fn factor(
    chain: &TabularMdp,
    discount: Discount,
    is_kept: impl Fn(usize) -> bool,
) -> Option<DominantLu> {
    let entries = (0..chain.n_states()).filter(|&from| is_kept(from)).flat_map(|from| {
        let row = chain.row(from);
        let transitions = row.successors.iter().zip(row.probabilities);
        transitions.map(move |(&to, &p)| (from, to as usize, discount.gamma() * p))
    });
    DominantLu::new(chain.n_states(), entries)
}

/// Solves for one goal: with `M = (I - gamma P)^-1`, `d(s, g) = ln M[g,g] - ln M[s,g]`.
pub(super) fn solve_goal(
    chain: &TabularMdp,
    factors: &DominantLu,
    discount: Discount,
    search: &ReverseSearch,
    goal: usize,
) -> GoalDistances {
    let mut occupancy = vec![0.0; chain.n_states()];
    occupancy[goal] = 1.0;
    factors.solve(&mut occupancy);
    let at_goal = occupancy[goal].ln();
    finish(chain, discount, search, &[goal], |state| at_goal - occupancy[state].ln())
}

/// Solves for a set of goals with a separate factorization: `h` is one on the goals and `gamma P h`
/// elsewhere.
pub(super) fn solve_set(
    chain: &TabularMdp,
    discount: Discount,
    search: &ReverseSearch,
    goals: &[usize],
) -> Option<GoalDistances> {
    let is_goal = |state: usize| (search.position[state] as usize) < goals.len();
    let factors = factor(chain, discount, |state| !is_goal(state))?;
    let mut hit = vec![0.0; chain.n_states()];
    goals.iter().for_each(|&goal| hit[goal] = 1.0);
    factors.solve(&mut hit);
    Some(finish(chain, discount, search, goals, |state| -hit[state].ln()))
}

fn finish(
    chain: &TabularMdp,
    discount: Discount,
    search: &ReverseSearch,
    goals: &[usize],
    nats_of: impl Fn(usize) -> f64,
) -> GoalDistances {
    let mut nats = vec![f64::INFINITY; chain.n_states()];
    let mut policy = vec![GoalDistances::NO_ACTION; chain.n_states()];
    for (position, &state) in search.order.iter().enumerate() {
        let state = state as usize;
        if position < goals.len() {
            nats[state] = 0.0;
        } else {
            nats[state] = nats_of(state);
            policy[state] = chain.row_action[state];
        }
    }
    let certificate = certify(chain, discount, goals, &nats);
    GoalDistances { discount, nats, policy, certificate, method: Method::SparseLu }
}
